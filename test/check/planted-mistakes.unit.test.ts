import { expect, test } from 'vitest';
import { OF_A_READER, OF_FRAMEWORKS } from '#test/check/mistakes.ts';
import { check, withOutcome } from '#test/support/checked-application.ts';
import { startPlanted } from '#test/support/planted-application.ts';
import { TOKEN } from '#test/support/webhooks.ts';

const ALL = [...OF_A_READER, ...OF_FRAMEWORKS];

test('the application passes without a mistake', async () => {
  for (const games of [30, 130])
    expect(withOutcome(await check((await startPlanted({ games })).url), 'failed')).toEqual([]);
});

test('there are 29 mistakes of a reader, and 17 more', () => {
  expect([OF_A_READER.length, OF_FRAMEWORKS.length]).toEqual([29, 17]);
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
