import { expect, test, vi } from 'vitest';
import { inTurn } from '#src/api/in-turn.ts';

test('who asks while a lookup is under way gets one that began after, together with all who did', async () => {
  const begun: PromiseWithResolvers<number>[] = [];
  const together = inTurn<number>();
  const look = (key: string) =>
    together(key, () => {
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
  await expect.poll(() => begun.length).toBe(3);
  begun[2]?.resolve(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
});

test('a lookup that fails fails for those who share it, and the next begins anew', async () => {
  let calls = 0;
  const together = inTurn<number>();
  const look = (key: string) =>
    together(key, async () => {
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

test('a lookup that is stuck is not waited for by who asks later, and is forgotten when it ends', async () => {
  const clock = vi.spyOn(performance, 'now');
  const stuck = Promise.withResolvers<string>();
  const look = inTurn<string>();
  clock.mockReturnValue(0);
  const first = look('a', () => stuck.promise);
  clock.mockReturnValue(1_001);
  const fresh = Promise.withResolvers<string>();
  const second = look('a', () => fresh.promise);
  const third = look('a', async () => 'after the fresh one');
  fresh.resolve('fresh');
  expect(await second).toBe('fresh');
  expect(await third).toBe('after the fresh one');
  stuck.resolve('late');
  expect(await first).toBe('late');
  expect(await look('a', async () => 'new')).toBe('new');
  clock.mockRestore();
});

test('nor by who asked while it was not known to be stuck', async () => {
  vi.useFakeTimers();
  const look = inTurn<string>();
  const stuck = Promise.withResolvers<string>();
  const first = look('a', () => stuck.promise);
  await vi.advanceTimersByTimeAsync(400);
  const waiting = look('a', async () => 'beside the stuck one');
  await vi.advanceTimersByTimeAsync(599);
  expect(await Promise.race([waiting, 'still waiting'])).toBe('still waiting');
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toBe('beside the stuck one');
  stuck.resolve('late');
  expect(await first).toBe('late');
  expect(await look('a', async () => 'new')).toBe('new');
  vi.useRealTimers();
});
