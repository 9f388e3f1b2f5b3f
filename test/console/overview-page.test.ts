// What the overview says, as a reviewer reads it.
import { randomUUIDv7 } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { closeRun } from '#db/queries/runs.ts';
import { recordHeartbeat } from '#db/queries/workers.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, addGames, anOpenRun } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const site = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'ada', 'viewer');
  cookie = await signIn(site.url, 'ada');
  await addApplication(database.sql, 'acme');
});

const read = async (path = '/'): Promise<string> =>
  (await fetch(new URL(path, site.url), { headers: { cookie } })).text();
const part = (page: string, title: string): string =>
  page.match(new RegExp(`<h2>${title}</h2>.*?</section>`, 's'))?.[0] ?? '';

test('the queues say how many workers run, and nothing while the notice says that none does', async () => {
  const without = await read();
  expect(without).toContain('No worker runs, so');
  expect(part(without, 'Queues')).toBe('');
  await recordHeartbeat(database.sql, { worker_id: randomUUIDv7(), host: 'here', pid: 1, queue: 'Postgres' });
  const page = await read();
  expect(page).not.toContain('No worker runs');
  expect(part(page, 'Queues').replaceAll(/<[^>]*>/g, '')).toMatch(
    /1 worker · All queues.*none paused, none has a failed job. 0 jobs wait./s,
  );
});

test('appeals are due as games are', async () => {
  const { sql } = database;
  const [game_id = ''] = await addGames(sql, 'acme', 1);
  const rejection = { audit_status: 'rejected', reason: 'rights' } as const;
  await decideGames(sql, [{ game_id, revision: 1 }], rejection, { actor: 'kim', actor_kind: 'operator' });
  await insertAppeal(sql, { game_id, text: 'Why?' });
  const stat = async () => (await read()).match(/<a class="stat (\w*)" href="\/review\/appeals">(.*?)<\/a>/s);
  expect((await stat())?.[2]).toMatch(/first due in 47\sh/);
  await sql`alter table game_appeals disable trigger user`;
  await sql`update game_appeals set opened_at = opened_at - interval '50 hours'`;
  await sql`alter table game_appeals enable trigger user`;
  const [, tone, words] = (await stat()) ?? [];
  expect([tone, words]).toEqual(['warn', expect.stringContaining('>1 due<')]);
});

test('one application in trouble is an application', async () => {
  const { sql } = database;
  const trouble = async () => (await read()).match(/<span>In trouble<\/span>.*?<\/a>/s)?.[0];
  await sql`update applications set failing_since = now()`;
  expect(await trouble()).toContain('<strong>1</strong><span>application</span>');
  await sql`update applications set failing_since = null`;
  expect(await trouble()).toContain('<strong>0</strong><span>applications</span>');
});

test('of a suspect application, the reason of that run is shown and linked, also after an abandoned one; codes are words', async () => {
  const { sql } = database;
  const suspect = await anOpenRun(sql, 'acme');
  await closeRun(sql, suspect, { outcome: 'suspect', reason: 'page 1: timeout' });
  await closeRun(sql, await anOpenRun(sql, 'acme'), {
    outcome: 'abandoned',
    reason: 'cancelled by an operator',
  });
  const trouble = part(await read(), 'Applications in trouble');
  const words = 'page 1: no complete answer within 15 seconds';
  expect(trouble).toContain(`<a href="/runs/${suspect.run_id}">${words}</a>`);
  expect(trouble).not.toContain('cancelled by an operator');
  for (const path of ['/applications', '/runs', '/applications/acme', `/runs/${suspect.run_id}`])
    expect(await read(path), path).toContain(words);
});

test('tables with sentences are lists of their cells on a narrow screen', async () => {
  const failure = { kind: 'invalid_data', reasons: [{ path: 'game_icon.3', code: 'not_http_url' }] };
  await recordFailures(database.sql, 'acme', 'query_game_detail', [{ application_game_id: 'g', ...failure }]);
  expect(part(await read(), 'Failures by reason')).toContain('<table class="stacked lines">');
});
