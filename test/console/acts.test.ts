import { randomUUIDv7 } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { findApplication } from '#db/queries/applications.ts';
import { listAudit } from '#db/queries/audit.ts';
import { recordHeartbeat } from '#db/queries/workers.ts';
import { jobSpecs, mediaSpecs, tick, workerSpecs } from '#src/ingest/specs.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const site = useTestConsole(database);
let cookie: string;

beforeAll(async () => {
  await addTestOperator(database.sql, 'ada', 'admin');
  cookie = await signIn(site.url, 'ada');
  await addApplication(database.sql, 'acme');
});

const post = (path: string, body: Record<string, string>) =>
  fetch(new URL(path, site.url), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: new URLSearchParams(body),
  });
/** Sends a form. @returns what the next page says */
const send = async (path: string, body: Record<string, string>): Promise<string> => {
  const answer = await post(path, body);
  const notice = answer.headers.getSetCookie().find((each) => each.startsWith('catalogue_notice='));
  return `${answer.status} ${decodeURIComponent(notice?.split(';')[0]?.split('=')[1] ?? '')}`;
};
const page = async (path: string): Promise<string> =>
  (await fetch(new URL(path, site.url), { headers: { cookie } })).text();

test('an administrator changes the schedule and the pace of an application, and nothing that takes a key', async () => {
  const { sql } = database;
  const here = '/applications/acme/settings';
  const before = await findApplication(sql, 'acme');
  expect(await page('/applications/acme')).toContain('name="every"');
  expect(await send(here, { every: '20m', rate: '7' })).toBe(
    '303 good Saved: Games every 20m, Calls a second 7.',
  );
  expect(await findApplication(sql, 'acme')).toMatchObject({ every_ms: 1_200_000, rate: 7 });
  expect(await send(here, { every: '20m', rate: '7' })).toBe('303 good Nothing was changed.');
  expect(await send(here, { every: 'soon' })).toMatch(/^303 bad every must be a duration such as 15m/);
  for (const rate of ['', '0', 'x', '1e9']) expect(await send(here, { rate }), rate).toMatch(/^303 bad rate/);
  const keyed = {
    query_game_list_webhook: 'https://attacker.example/list',
    events_webhook: 'https://attacker.example/events',
    access_token: 'stolen',
  };
  expect(await send(here, keyed)).toBe('303 good Nothing was changed.');
  expect(await findApplication(sql, 'acme')).toMatchObject({
    query_game_list_webhook: before?.query_game_list_webhook,
  });
  const [entry] = await listAudit(sql, { action: 'application.update', limit: 1 });
  expect(entry).toMatchObject({ actor: 'ada', details: { every_ms: 1_200_000, rate: 7 } });
});

test('the overview and the queues say that no worker runs, first of all, until one has a heartbeat', async () => {
  const media = `/queues/queue/${mediaSpecs[0]?.name}`;
  const queues = await page('/queues');
  expect(queues).toContain(
    `No worker runs, so the jobs of ${workerSpecs.length} of ${jobSpecs.length} queues wait.`,
  );
  expect(queues.indexOf('No worker runs')).toBeLessThan(queues.indexOf('<table'));
  expect(queues.match(/>no worker</g)).toHaveLength(workerSpecs.length);
  // Its process has no heartbeat.
  const [row = ''] = queues.match(new RegExp(`${media}".*?</tr>`, 's')) ?? [];
  expect(row, 'the exceptions stand out').not.toContain('class="badge');
  const overview = await page('/');
  expect(overview.indexOf('No worker runs')).toBeLessThan(overview.indexOf('class="stats"'));
  await recordHeartbeat(database.sql, { worker_id: randomUUIDv7(), host: 'here', pid: 1, queue: 'Postgres' });
  for (const path of ['/', '/queues']) expect(await page(path)).not.toMatch(/no worker/i);
});

test('an administrator ends a token: it is listed as revoked', async () => {
  const { token, token_id } = await addToken(database.sql, 'acme');
  expect(await page('/tokens')).toContain(token_id);
  expect(await page('/tokens')).not.toContain(token);
  expect(await send('/tokens', { token_id })).toMatch(/^303 good The token is revoked/);
  expect(await page('/tokens')).toContain('revoked');
  expect(await send('/tokens', { token_id: 'x' })).toMatch(/^303 bad token_id/);
});

test('an administrator pauses a queue and resumes it, and the overview names it', async () => {
  expect(await page('/queues')).toContain(tick.name);
  expect(await send('/queues', { act: 'pause', queue: tick.name })).toMatch(/^303 good tick is paused/);
  const overview = await page('/');
  expect(overview).toContain(`/queues/queue/${tick.name}`);
  expect(overview).not.toContain('none has a failed job');
  expect(await send('/queues', { act: 'resume', queue: tick.name })).toMatch(/^303 good tick runs again/);
  expect(await page('/')).toContain('none has a failed job');
  expect(await send('/queues', { act: 'pause', queue: 'no such queue' })).toMatch(/^303 bad /);
});

test('an act that is refused leads back to the page of the application, which says why', async () => {
  const refused = await post('/applications/acme', { act: 'retry_events' });
  expect([refused.status, refused.headers.get('location')]).toEqual([303, '/applications/acme']);
  expect(decodeURIComponent(refused.headers.getSetCookie().join())).toContain('catalogue_notice=bad ');
});
