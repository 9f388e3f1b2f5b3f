import { expect, test } from 'vitest';
import { createAddressSigner } from '#src/sample-application/signer.ts';
import { OF_FRAMEWORKS } from '#test/check/framework-mistakes.ts';
import { OF_A_SECOND_READER } from '#test/check/later-mistakes.ts';
import { details, kyc } from '#test/check/plant-mistakes.ts';
import { OF_A_READER } from '#test/check/reader-mistakes.ts';
import { check, withOutcome } from '#test/support/checked-application.ts';
import { startPlanted } from '#test/support/planted-application.ts';
import { TOKEN } from '#test/support/webhooks.ts';

const ALL = [...OF_A_READER, ...OF_FRAMEWORKS, ...OF_A_SECOND_READER];

test('the application passes without a mistake', async () => {
  for (const games of [30, 130])
    expect(withOutcome(await check((await startPlanted({ games })).url), 'failed')).toEqual([]);
});

test('there are 29 mistakes of a reader, and 43 more', () => {
  expect([OF_A_READER, OF_FRAMEWORKS, OF_A_SECOND_READER].map(({ length }) => length)).toEqual([29, 18, 25]);
});

test('an application with a concurrency of 1 may serve one connection after another', async () => {
  const { url } = await startPlanted({ isSingle: true });
  const results = await check(url, TOKEN, { concurrency: 1 });
  expect(withOutcome(results, 'failed')).toEqual([]);
  expect(withOutcome(results, 'skipped')).toEqual(['detail.at-once']);
});

test('the list is not called unsteady because of a row that is on every page', async () => {
  const mistake = OF_A_SECOND_READER.find(({ planted }) => planted.startsWith('an advertisement'));
  const results = await check((await startPlanted(mistake ?? {})).url);
  expect(results.find(({ name }) => name === 'list.distinct')?.problem).toBe('1 game is listed twice: ad');
  expect(results.find(({ name }) => name === 'list.past-the-end')?.problem).toMatch(
    /^data\.list has 1 row on /,
  );
});

test('one detail that cannot be read hides no address that ends too soon', async () => {
  const { sign } = createAddressSigner(60);
  const after = details((game) =>
    game.game_id === 'g-0'
      ? delete game.game_info
      : Object.assign(game, { game_icon: game.game_icon.map(sign) }),
  );
  const failed = withOutcome(await check((await startPlanted({ after })).url), 'failed');
  expect(failed).toEqual(['detail.field-types', 'detail.lasting-addresses']);
});

test('of a KYC response, a field that it lacks is not shown', async () => {
  const after = kyc((reply) => Object.assign(reply, { json: { code: 0, message: 'ok' } }));
  const results = await check((await startPlanted({ after })).url);
  expect(results.find(({ name }) => name === 'kyc.envelope')?.came).toBe('HTTP 200 {}');
});

test.each(ALL)('$planted: the check says so', async (mistake) => {
  const { url } = await startPlanted(mistake);
  const results = await check(url, TOKEN, mistake);
  const [first] = results.filter(({ outcome }) => outcome === 'failed');
  expect([withOutcome(results, 'failed'), first?.problem]).toEqual([
    mistake.fails,
    expect.stringMatching(mistake.says),
  ]);
  expect(JSON.stringify(results)).not.toContain('Secret');
});
