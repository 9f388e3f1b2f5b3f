import { expect, test } from 'vitest';
import { inTurn } from '#src/api/in-turn.ts';

test('who asks while a lookup is under way gets one that began after, together with all who did', async () => {
  const begun: PromiseWithResolvers<number>[] = [];
  const look = inTurn(() => {
    const lookup = Promise.withResolvers<number>();
    begun.push(lookup);
    return lookup.promise;
  });
  const first = look('a');
  const [second, third] = [look('a'), look('a')];
  const other = look('b');
  expect(begun).toHaveLength(2);
  begun[1]?.resolve(20);
  expect(await other).toBe(20);

  begun[0]?.resolve(1);
  expect(await first).toBe(1);
  expect(begun).toHaveLength(3);
  begun[2]?.resolve(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
});

test('a lookup that fails fails for those who share it, and the next begins anew', async () => {
  let calls = 0;
  const look = inTurn(async () => {
    calls += 1;
    if (calls < 3) throw new Error(`call ${calls}`);
    return calls;
  });
  const answers = await Promise.allSettled([look('a'), look('a'), look('a')]);
  expect(
    answers.map((answer) => (answer.status === 'rejected' ? answer.reason.message : answer.value)),
  ).toEqual(['call 1', 'call 2', 'call 2']);
  expect(await look('a')).toBe(3);
});
