import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createAddressSigner } from '#src/sample-application/signer.ts';
import { check, startBroken, startSample, withOutcome } from '#test/support/checked-application.ts';
import { TOKEN } from '#test/support/webhooks.ts';

const HOUR = 3_600;

test('addresses that a known service signs pass, and it is said that they are signed', async () => {
  const results = await check((await startSample(30, createAddressSigner(HOUR))).url, TOKEN, {
    repeatMs: 1_100,
  });
  expect(withOutcome(results, 'failed')).toEqual([]);
  const notes = results.flatMap(({ name, note }) => (note === undefined ? [] : [[name, note]]));
  expect(notes).toEqual([
    [
      'list.constant-addresses',
      'game_icon is signed anew at each answer (AWS Signature Version 4): no change',
    ],
    [
      'detail.constant-addresses',
      expect.stringMatching(
        /^game_icon, game_store_pic.* is signed anew at each answer \(AWS Signature Version 4\): no change$/,
      ),
    ],
  ]);
});

test('a call is repeated in a later second than its first answer, which may come late', async () => {
  let first: { body: string; answeredAt: number } | undefined;
  const waits: number[] = [];
  const { url } = await startBroken(async ({ operation, body, bearer }) => {
    if (operation !== 'query_game_list' || bearer !== `Bearer ${TOKEN}`) return undefined;
    const text = JSON.stringify(body);
    if (first === undefined) {
      await sleep(700);
      first = { body: text, answeredAt: performance.now() };
    } else if (first.body === text) waits.push(performance.now() - first.answeredAt);
    return undefined;
  });
  await check(url, TOKEN, { repeatMs: 1_500 });
  expect(waits).toEqual([expect.toSatisfy((ms) => ms >= 1_490)]);
});

test('addresses that end before the next run are named', async () => {
  const results = await check((await startSample(30, createAddressSigner(HOUR))).url, TOKEN, {
    every_ms: 2 * HOUR * 1_000,
  });
  expect(withOutcome(results, 'failed')).toEqual(['detail.lasting-addresses']);
  expect(results.find(({ outcome }) => outcome === 'failed')?.problem).toMatch(
    /^its addresses end 1h after an answer, and its games are read every 2h: .* Sign addresses for at least 150m$/,
  );
});

test.each([
  [
    'in a parameter',
    (address: string, n: number) => `${address}?v=1&t=${n}`,
    /differs between two answers in t alone: .*, or ask the operator of the platform for app update acme --volatile-parameter t$/,
  ],
  [
    'in its path',
    (address: string, n: number) => `${address}/${n}`,
    /differs between two answers: .* pictures$/,
  ],
])('addresses that move %s at each answer fail, and it is said how', async (_, move, problem) => {
  let answers = 0;
  const signer = { sign: (address: string) => move(address, answers++), isValid: () => true };
  const { url } = await startSample(30, signer);
  const failed = (await check(url)).filter(({ outcome }) => outcome === 'failed');
  expect(failed.map(({ name }) => name)).toEqual(['list.constant-addresses', 'detail.constant-addresses']);
  for (const each of failed) expect(each.problem).toMatch(problem);
});

test('the call that is shown is the one whose answer differs, not the last', async () => {
  const asked: string[] = [];
  const { url } = await startBroken(({ operation, body: { game_id } }, { json }) => {
    if (operation !== 'query_game_detail' || json.data === null) return undefined;
    asked.push(game_id);
    const isFirst = game_id === asked[0];
    if (isFirst) json.data.game_icon = [`https://cdn.example/${asked.length}.png`];
    return undefined;
  });
  const [found, ...more] = (await check(url)).filter(({ name }) => name === 'detail.constant-addresses');
  expect(more).toEqual([]);
  expect(found).toMatchObject({ outcome: 'failed', sent: expect.stringContaining(asked[0] ?? '-') });
});

test('a parameter that is set for the application passes', async () => {
  let answers = 0;
  const signer = { sign: (address: string) => `${address}?t=${answers++}`, isValid: () => true };
  const { url } = await startSample(30, signer);
  expect(withOutcome(await check(url, TOKEN, { volatile: ['t'] }), 'failed')).toEqual([]);
});
