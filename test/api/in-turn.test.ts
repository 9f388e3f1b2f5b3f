import { afterEach, describe, expect, test, vi } from 'vitest';
import { inTurn } from '#src/api/in-turn.ts';

afterEach(() => vi.useRealTimers());

/** Looks up letters, and what was looked up when: each lookup ends when it is told to. */
const aTurn = (most = 10) => {
  const begun: { from: string; asked: readonly string[]; end: (error?: Error) => void }[] = [];
  const look = (from: string, asked: readonly string[]): Promise<string[]> => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const nth = begun.length + 1;
    const end = (error?: Error) =>
      error ? reject(error) : resolve(asked.map((letter) => `${letter}${nth}`));
    begun.push({ from, asked, end });
    return promise;
  };
  const ask = inTurn({ sql: 'sql', lane: 'lane' }, look, { keyOf: (letter: string) => letter, most });
  return { begun, ask };
};
const immediate = () => new Promise((resolve) => setImmediate(resolve));

test('what is asked for at the same time is looked up together, the same thing once', async () => {
  const { begun, ask } = aTurn();
  const answers = Promise.all(['a', 'b', 'a'].map(ask));
  await immediate();
  expect(begun.map(({ asked }) => asked)).toEqual([['a', 'b']]);
  begun[0]?.end();
  expect(await answers).toEqual(['a1', 'b1', 'a1']);
});

test('who asks while a lookup is under way gets one that began after, together with all who did', async () => {
  const { begun, ask } = aTurn();
  const first = ask('a');
  await immediate();
  const later = Promise.all(['a', 'b', 'a'].map(ask));
  await immediate();
  expect(begun).toHaveLength(1);
  begun[0]?.end();
  expect(await first).toBe('a1');
  await immediate();
  expect(begun[1]?.asked).toEqual(['a', 'b']);
  begun[1]?.end();
  expect(await later).toEqual(['a2', 'b2', 'a2']);
});

test('more than goes together is looked up beside it', async () => {
  const { begun, ask } = aTurn(2);
  const answers = Promise.all(['a', 'b', 'c', 'd', 'e'].map(ask));
  await immediate();
  expect(begun.map(({ from, asked }) => [from, asked.join('')])).toEqual([
    ['lane', 'ab'],
    ['sql', 'cd'],
    ['sql', 'e'],
  ]);
  for (const { end } of begun) end();
  expect(await answers).toEqual(['a1', 'b1', 'c2', 'd2', 'e3']);
  ask('f');
  await immediate();
  expect(begun.at(-1)?.from).toBe('lane');
});

test('a lookup that fails fails for those who share it, and the next begins anew', async () => {
  const { begun, ask } = aTurn();
  const shared = Promise.allSettled([ask('a'), ask('b'), ask('a')]);
  await immediate();
  const next = ask('a');
  begun[0]?.end(new Error('away'));
  for (const answer of await shared) expect(answer).toMatchObject({ reason: { message: 'away' } });
  await immediate();
  begun[1]?.end();
  expect(await next).toBe('a2');
});

test('a lookup that its connection broke under is made again elsewhere, once', async () => {
  const { begun, ask } = aTurn();
  const broken = Object.assign(new Error('read'), { code: 'ECONNRESET' });
  const answer = ask('a');
  await immediate();
  begun[0]?.end(broken);
  await immediate();
  expect(begun.map(({ from, asked }) => [from, ...asked])).toEqual([
    ['lane', 'a'],
    ['sql', 'a'],
  ]);
  begun[1]?.end();
  expect(await answer).toBe('a2');

  const lost = ask('a');
  await immediate();
  begun[2]?.end(broken);
  await immediate();
  begun[3]?.end(broken);
  await expect(lost).rejects.toBe(broken);
  expect(begun).toHaveLength(4);
});

describe('a lookup that is slow in its lane', () => {
  /** One that has been under way for 49 ms, and what is asked for meanwhile. */
  const slow = async () => {
    const { begun, ask } = aTurn();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const [first] = [ask('a'), await immediate()];
    const waiting = ask('b');
    await vi.advanceTimersByTimeAsync(49);
    await immediate();
    const places = () => begun.map(({ from, asked }) => `${from} ${asked.join('')}`);
    expect(places()).toEqual(['lane a']);
    return { begun, ask, first, waiting, places };
  };

  test('is made again elsewhere, and who had asked meanwhile does not wait for it', async () => {
    const { begun, first, waiting, places } = await slow();
    await vi.advanceTimersByTimeAsync(1);
    expect(places()).toEqual(['lane a', 'sql a', 'sql b']);
    begun[1]?.end();
    begun[2]?.end();
    expect(await first).toBe('a2');
    expect(await waiting).toBe('b3');
  });

  test('is the one lookup in it until it has an answer', async () => {
    const { begun, ask, places } = await slow();
    await vi.advanceTimersByTimeAsync(1);
    begun[1]?.end();
    begun[2]?.end();
    await immediate();
    ask('c');
    await immediate();
    expect(places().at(-1)).toBe('sql c');
    begun[3]?.end();
    begun[0]?.end();
    await immediate();
    ask('d');
    await immediate();
    expect(places().at(-1)).toBe('lane d');
  });

  test('counts when it answers first after all, or the other one fails', async () => {
    const { begun, first } = await slow();
    await vi.advanceTimersByTimeAsync(1);
    begun[1]?.end(new Error('too many connections'));
    await immediate();
    begun[0]?.end();
    expect(await first).toBe('a1');
  });

  test('fails when both do', async () => {
    const { begun, first } = await slow();
    const failed = expect(first).rejects.toThrow('away');
    await vi.advanceTimersByTimeAsync(1);
    begun[1]?.end(new Error('away'));
    await immediate();
    begun[0]?.end(Object.assign(new Error('read'), { code: 'ECONNRESET' }));
    await failed;
    expect(begun).toHaveLength(3);
  });
});
