// What the page of a suspect run tells a lead, before and after the decision.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { withoutAdvice } from '#src/contract/words.ts';
import { judgeRun } from '#src/rules/outcome.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
let cookie: string;
let next = 0;
let application_id: string;
let path: string;

const gone = { established: 14, lost: 12, present: 14, unlisted: 12 };
const listed = {
  listed: 2,
  unnamed: 0,
  invalid: 0,
  failed: 0,
  missing: 0,
  repeats: 0,
  emptyPages: 0,
  unread: [],
  total: 2,
};
const verdict = judgeRun(
  { ...gone, ...listed, end: 'complete', acceptWithdrawals: false },
  { kept: 0, unconfirmed: 0 },
);

beforeAll(async () => {
  await addTestOperator(database.sql, 'rita', 'reviewer');
  cookie = await signIn(served.url, 'rita');
});

beforeEach(async () => {
  const { sql } = database;
  next += 1;
  application_id = `app-${next}`;
  await addApplication(sql, application_id);
  await upsertGames(sql, application_id, [fetchedGame({ game_id: 'g-1' })]);
  const run = await anOpenRun(sql, application_id);
  await closeRun(sql, run, { outcome: 'suspect', reason: verdict.reason });
  await sql`update sync_runs set listing_end = 'complete' where run_id = ${run.run_id}`;
  await sql`
    insert into vanishing_games (run_id, game_id)
    select ${run.run_id}, game_id from games where application_id = ${application_id}`;
  path = `/runs/${run.run_id}`;
});

const get = async (): Promise<string> =>
  (await fetch(new URL(path, served.url), { headers: { cookie } })).text();

test('its reason does not ask for a decision that was made', async () => {
  expect(verdict.reason).toContain('accept it on the page of the run');
  expect(await get()).toContain('Withdraw the selected games');
  await fetch(new URL(`${path}/withdrawals`, served.url), {
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams({ act: 'all' }),
  });
  const decided = await get();
  expect(decided).toContain('so withdrew none');
  expect(decided).not.toContain('accept it');
  expect(decided).toContain('Nothing waits for a decision');
});

test("the application's developer is not told to accept it: that is the platform's to do", () => {
  expect(withoutAdvice(verdict.reason ?? '')).toMatch(/so withdrew none$/);
});

test('once a later run has begun, its games have no buttons that would refuse, and the page leads to that run', async () => {
  const { run_id } = await anOpenRun(database.sql, application_id);
  const shown = await get();
  expect(shown).toContain(`<a href="/runs/${run_id}">a later run</a>`);
  expect(shown).not.toContain('Withdraw the selected games');
});

test('a list without a proper end has no games to withdraw, and the page does not say that they were withdrawn', async () => {
  await database.sql`delete from vanishing_games`;
  await database.sql`update sync_runs set listing_end = 'repeated' where application_id = ${application_id}`;
  expect(await get()).toContain('The list has no proper end');
});

test("the application's page says what became of its last run and why, not that its runs succeed", async () => {
  path = `/applications/${application_id}`;
  expect(await get()).toMatch(/<p class="lead"><span class="badge[^"]*">suspect<\/span>/);
  expect(await get()).toContain(`suspect</a>: ${withoutAdvice(verdict.reason ?? '')}`);
  expect(await get()).toMatch(/The outcome of its last run is <a href="\/runs\/[0-9a-f-]+">suspect<\/a>/);
  await database.sql`update sync_runs set outcome = 'succeeded' where application_id = ${application_id}`;
  expect(await get()).toContain('Its last run succeeded.');
  await database.sql`delete from sync_runs where application_id = ${application_id}`;
  expect(await get()).toContain('No run of it has ended.');
});
