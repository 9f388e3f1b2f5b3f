// The page of the checks, by what the last one found.
import { expect, test } from 'vitest';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('a report shows the rules that do not hold, and folds those that were skipped or hold', async () => {
  const { sql } = database;
  const { page, said } = await arrive(sql, portal.url, 'ash');
  await said('/portal/checks', {});
  const report = async (...outcomes: string[]) => {
    const cases = outcomes.map((outcome, n) => ({ name: `list.${n}`, rule: 'A rule.', outcome }));
    await sql`update application_checks set finished_at = now(), failed = 1, cases = ${sql.json(cases)}`;
    const shown = await page('/portal/checks');
    const folds = [...shown.matchAll(/<details class="unchanged"><summary>([^<]*)/g)].map(([, text]) => text);
    const [open = ''] = shown.split('<details class="unchanged">');
    return { folds, open: [...open.matchAll(/<span class="badge \w+">(\w+)</g)].map(([, word]) => word) };
  };
  expect(await report('failed', 'skipped', 'skipped', 'passed')).toEqual({
    folds: ['2 rules were skipped', '1 rule holds'],
    open: ['failed'],
  });
  expect(await report('failed', 'skipped')).toEqual({ folds: ['1 rule was skipped'], open: ['failed'] });
  const shown = await page('/portal/checks');
  expect(shown).toContain('<button class="button primary">Run the checks again<');
  expect(shown).toContain('Of a long list, 10 details are read.');
  await sql`update application_checks set failed = 0`;
  expect(await page('/portal/checks'), 'nothing is to be done').toContain(
    '<button class="button ">Run the checks again<',
  );
});
