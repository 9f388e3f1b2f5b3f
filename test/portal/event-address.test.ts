import { beforeAll, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { eventSchema } from '#src/contract/events.ts';
import { createEventBox } from '#src/sealing/event-box.ts';
import { arrive } from '#test/portal/developer.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { aReceiver, aSender, isGenuine } from '#test/support/events.ts';
import { addToken, testKeys } from '#test/support/factories.ts';
import { ringOf } from '#test/support/kyc.ts';
import { decideGame, reseal } from '#test/support/operate.ts';
import { everyRow } from '#test/support/stored.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const site = useTestConsole(database);
const ADDRESS = '/portal/events/address';

const secretIn = (page: string): string => /whsec_[A-Za-z0-9+/]{43}=/.exec(page)?.[0] ?? '';

const passOnly = async (application_id: string): Promise<void> => {
  const [game] = await database.sql<{ game_id: string }[]>`
    select game_id from games where application_id = ${application_id}`;
  await decideGame(database.sql, { game_id: game?.game_id ?? '', audit_status: 'passed' });
};

/** How a form that was refused is shown again. */
const refused = async (
  call: (path: string, body: Record<string, string>) => Promise<Response>,
  given: Record<string, string>,
) => {
  const answer = await call(ADDRESS, given);
  const page = await answer.text();
  const [, form = ''] = /<details name="address" open>(.*?)<\/details>/s.exec(page) ?? [];
  expect(page, 'a token is on no page').not.toMatch(/name="api_token"[^>]* value=/);
  return {
    status: answer.status,
    url: /name="url"[^>]* value="([^"]*)"/.exec(form)?.[1],
    field: /name="([a-z_]*)"[^>]* aria-invalid="true" aria-describedby="problem">/.exec(form)?.[1],
    said: /aria-describedby="problem"><\/label><p class="flaw" id="problem" role="alert">([^<]*)</.exec(
      form,
    )?.[1],
  };
};

beforeAll(async () => {
  await addTestOperator(database.sql, 'adam', 'admin');
});

test('before a worker has made the key pair, a developer reads why no address can be set', async () => {
  const { call } = await arrive(database.sql, site.url, 'early');
  const given = { act: 'set', url: 'http://127.0.0.1:9/events', api_token: '' };
  expect(await refused(call, given)).toMatchObject({
    field: 'url',
    said: 'Addresses cannot be set just now. Try again later, or write to the operators.',
  });
  await createEventBox(database.sql, testKeys);
});

test('a developer sets an address, replaces its secret and removes it; events arrive signed', async () => {
  const { sql } = database;
  const { url, received } = await aReceiver();
  const { call, page, said, token } = await arrive(sql, site.url, 'elm', [{ game_id: 'e-1' }]);
  const given = { act: 'set', url, api_token: '' };
  const again = { status: 422, url, field: 'api_token' };
  const asked = expect.stringMatching(/^The origin of this address is new/);
  expect(await refused(call, given)).toEqual({ ...again, said: asked });
  const wrong = [{ token: 'x' }, await addToken(sql, 'early'), await addToken(sql, 'elm', new Date(0))];
  for (const { token: api_token } of wrong)
    expect(await refused(call, { ...given, api_token })).toEqual({
      ...again,
      said: 'This is no valid API token of elm.',
    });
  expect(await refused(call, { ...given, url: 'ftp://elm.example/"><b>' })).toEqual({
    status: 422,
    url: 'ftp://elm.example/&quot;&gt;&lt;b&gt;',
    field: 'url',
    said: 'Give an https address without a user or password.',
  });

  const secret = secretIn(await (await call(ADDRESS, { ...given, api_token: token })).text());
  const events = await page('/portal/events');
  expect(events).not.toContain('whsec_');
  expect(events).toContain('<summary class="button">New secret…</summary>');
  const [, former_until = 'none'] = /name="former_until" value="([^"]*)"/.exec(events) ?? [];
  const rotate = { act: 'rotate', former_until };
  const [once, twice] = await Promise.all([call(ADDRESS, rotate), call(ADDRESS, rotate)]);
  const secrets = [secretIn(await once.text()), secretIn(await twice.text())];
  const next = secrets.find((each) => each !== '') ?? '';
  // A form that is sent twice replaces one secret.
  expect(secrets.toSorted()).toEqual(['', next]);

  expect(await said(ADDRESS, { act: 'test' })).toMatch(/^good A test is sent now/);
  expect(await aSender(sql).deliverNow('elm')).toEqual({ delivered: 1, failed: 0 });
  const [sent] = received.splice(0);
  expect(sent && isGenuine(sent, next)).toBe(true);
  expect(eventSchema.parse(JSON.parse(sent?.body ?? ''))).toMatchObject({
    type: 'webhook.test',
    data: { why: 'test' },
  });
  expect(await page('/portal/events')).toContain('webhook.test');

  await passOnly('elm');
  expect(await aSender(sql).deliverNow('elm')).toEqual({ delivered: 1, failed: 0 });
  expect([secret, next].map((each) => received.map((one) => isGenuine(one, each)))).toEqual([[true], [true]]);

  // `kyc reseal` wraps what the portal sealed by the key of the installation.
  const k2 = ringOf(['k2']);
  await reseal(sql, { records: [...k2.records, ...testKeys.records], tokens: k2.tokens });
  await sql`update event_deliveries set state = 'pending', next_attempt_at = now()`;
  expect(await aSender(sql, { keys: k2 }).deliverNow('elm')).toEqual({ delivered: 2, failed: 0 });
  expect(received.map((one) => isGenuine(one, secret) && isGenuine(one, next))).toEqual([true, true, true]);

  const stored = JSON.stringify(await everyRow(sql));
  for (const each of [secret, next, token]) {
    expect(stored).not.toContain(each);
    expect(stored).not.toContain(Buffer.from(each).toString('hex'));
  }
  expect(await said(ADDRESS, { act: 'remove' })).toBe('good The address is removed: no event is sent.');
  const log = await listAudit(sql, { subject: 'application:elm', limit: 10 });
  expect(log.map(({ action, actor }) => [action, actor])).toEqual([
    ['event_webhook.remove', 'elm'],
    ['event.test', 'elm'],
    ['event_secret.rotate', 'elm'],
    ['event_webhook.set', 'elm'],
  ]);
});

test('an address that is not public is reached by no event', async () => {
  const { sql } = database;
  await createEventBox(sql, testKeys);
  const { call, token } = await arrive(sql, site.url, 'oak', [{ game_id: 'o-1' }]);
  await call(ADDRESS, { act: 'set', url: 'http://169.254.169.254/latest', api_token: token });
  await passOnly('oak');
  expect(await aSender(sql, { keys: ringOf(['k2']) }).deliverNow('oak')).toEqual({ delivered: 0, failed: 1 });
  expect(
    await sql`select last_status, last_error from event_deliveries where application_id = 'oak'`,
  ).toEqual([{ last_status: null, last_error: 'forbidden_address' }]);
});

test('an administrator sets an address at an origin that the application has given, and at no other', async () => {
  const { sql } = database;
  await arrive(sql, site.url, 'fir');
  const cookie = await signIn(site.url, 'adam');
  const set = (url: string) =>
    fetch(new URL('/applications/fir/events', site.url), {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie },
      body: new URLSearchParams({ act: 'set', url, api_token: '' }),
    });
  expect((await set('https://evil.example/events')).status).toBe(303);
  expect(await sql`select from event_webhooks where application_id = 'fir'`).toEqual([]);
  const url = 'http://127.0.0.1:9/events';
  expect(secretIn(await (await set(url)).text())).not.toBe('');
  expect(await sql`select url from event_webhooks where application_id = 'fir'`).toEqual([{ url }]);
});
