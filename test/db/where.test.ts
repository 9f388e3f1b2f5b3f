import { expect, test } from 'vitest';
import { listAuditPage, recordAudit } from '#db/queries/audit.ts';
import { listReasonPage, saveReason } from '#db/queries/reasons.ts';
import { readColumn } from '#db/rows.ts';
import { where } from '#db/where.ts';
import { KIM } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const first = { sort: 'code', descending: false, limit: 100 } as const;

test('where() joins the conditions that are present, and lets all rows through without one', async () => {
  const { sql } = database;
  const find = (...conditions: Parameters<typeof where>[1]) =>
    readColumn(sql<{ code: string }[]>`select code from reasons ${where(sql, conditions)} order by position`);
  expect(await find(undefined, false, null)).toHaveLength(7);
  expect(await find()).toHaveLength(7);
  expect(await find(sql`position > 2`, undefined, sql`position < 4`)).toEqual(['misleading']);
});

test('a filter by "" finds nothing: an absent filter alone finds everything', async () => {
  const { sql } = database;
  await recordAudit(sql, [{ ...KIM, action: 'application.pause', subject: 'application:acme' }]);
  const page = { sort: 'entry_id', descending: true, limit: 9 } as const;
  expect((await listAuditPage(sql, { subject: '' }, page)).rows).toEqual([]);
  expect((await listAuditPage(sql, { subject: undefined }, page)).rows).toHaveLength(1);
});

test('a search takes "%", "_" and "\\" as they are, in any column and any case', async () => {
  const { sql } = database;
  await saveReason(sql, { code: 'half_off', label: '50 % o\\f', text: '' });
  const search = async (text: string) =>
    (await listReasonPage(sql, { search: text }, first)).rows.map(({ code }) => code);
  expect(await search('0 % O\\F')).toEqual(['half_off']);
  expect(await search('HALF_')).toEqual(['half_off']);
  for (const text of ['50%', 'halfXoff', 'h_lf', "'"]) expect(await search(text)).toEqual([]);
});
