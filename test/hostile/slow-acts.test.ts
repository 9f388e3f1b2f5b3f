import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { REFRESH_PATH } from '#src/contract/events.ts';
import { MESSAGE_PATH } from '#src/contract/talk.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { addTestOperator, PASSWORD, signIn } from '#test/support/console.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { KIM, switchOperator } from '#test/support/operate.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';
import { until } from '#test/support/until.ts';

const api = useOperatorApi();
const FORM = 'application/x-www-form-urlencoded';

/** Sends the headers and the beginning of a body; the rest when `meanwhile` has happened. @returns the status */
const sendSlowly = async (
  url: URL,
  headers: Record<string, string>,
  body: string,
  meanwhile: () => Promise<unknown>,
): Promise<number | undefined> => {
  const sent = request(url, { method: 'POST', headers: { ...headers, 'content-length': body.length } });
  sent.write(body.slice(0, 5));
  await meanwhile();
  sent.end(body.slice(5));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
};
/** Sends a form of a site slowly; `meanwhile` begins when its session was seen. @returns the status */
const sendFormSlowly = async (
  { path, cookie, body, type = FORM }: { path: string; cookie: string; body: string; type?: string },
  sessions: 'operator_sessions' | 'portal_sessions',
  meanwhile: () => Promise<unknown>,
): Promise<number | undefined> => {
  const { sql } = api.database;
  await sql`update ${sql(sessions)} set seen_at = now() - interval '5 minutes'`;
  const isSeen = async () =>
    (await sql`select from ${sql(sessions)} where seen_at > now() - interval '1 minute'`).count === 1;
  return sendSlowly(new URL(path, api.served.url), { cookie, 'content-type': type }, body, async () => {
    await until('the form is let in', isSeen);
    await meanwhile();
  });
};
const codes = async () =>
  (await api.database.sql<{ code: string }[]>`select code from reasons`).map(({ code }) => code);
const isUsed = async (token_id: string) =>
  (await api.database.sql`select from api_tokens where token_id = ${token_id} and last_used_at is not null`)
    .count === 1;

test('a token that is revoked while the body of its call arrives does nothing', async () => {
  const { sql } = api.database;
  const { token, token_id } = await api.addToken('olga', 'admin');
  const status = await sendSlowly(
    new URL('/operator-api/reason/add', api.url),
    { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    JSON.stringify({ code: 'late_call', label: 'Late', text: 'Late' }),
    async () => {
      await until('the call is let in', () => isUsed(token_id));
      await sql`update api_tokens set revoked_at = now() where token_id = ${token_id}`;
    },
  );
  expect([status, await codes()]).toEqual([401, expect.not.arrayContaining(['late_call'])]);
});

test('an operator who is disabled while the form arrives does nothing', async () => {
  const { sql } = api.database;
  await addTestOperator(sql, 'vik', 'admin');
  const cookie = await signIn(api.served.url, 'vik');
  const body = new URLSearchParams({ act: 'add', code: 'late_form', label: 'Late', text: 'Late' }).toString();
  const status = await sendFormSlowly({ path: '/reasons', cookie, body }, 'operator_sessions', () =>
    switchOperator(sql, KIM.actor, 'vik', 'disabled'),
  );
  expect([status, await codes()]).toEqual([401, expect.not.arrayContaining(['late_form'])]);
});

test('an administrator who is disabled while a call of Bull Board arrives does nothing', async () => {
  const { sql } = api.database;
  await addTestOperator(sql, 'bo', 'admin');
  const cookie = await signIn(api.served.url, 'bo');
  const body = JSON.stringify({ name: 'late', data: {}, options: {} });
  const form = { path: '/queues/api/queues/prune/add', cookie, body, type: 'application/json' };
  const status = await sendFormSlowly(form, 'operator_sessions', () =>
    switchOperator(sql, KIM.actor, 'bo', 'disabled'),
  );
  const queue = api.served.producer.queues().find(({ name }) => name === 'prune');
  expect([status, await queue?.getWaitingCount()]).toEqual([401, 0]);
});

test('an operator who is disabled while the password is verified does nothing', async () => {
  const { sql } = api.database;
  await addTestOperator(sql, 'wim', 'admin');
  const cookie = await signIn(api.served.url, 'wim');
  let answer: Promise<Response> | undefined;
  await sql.begin(async (tx) => {
    await tx`insert into sign_in_attempts values ('confirm:wim', 1, now() + interval '1 hour')`;
    answer = fetch(new URL('/operators', api.served.url), {
      method: 'POST',
      headers: { cookie },
      redirect: 'manual',
      body: new URLSearchParams({ act: 'add', login: 'late', role: 'viewer', password: PASSWORD }),
    });
    await untilBlocked(sql);
    await switchOperator(sql, KIM.actor, 'wim', 'disabled');
  });
  await answer;
  expect(await sql`select from operators where login = 'late'`).toHaveLength(0);
});

test('a developer whose token is revoked while the form arrives does nothing', async () => {
  const { sql } = api.database;
  await addApplication(sql, 'acme');
  const { token, token_id } = await addToken(sql, 'acme');
  const signedIn = await fetch(new URL('/portal/sign-in', api.served.url), {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ token }),
  });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const form = { path: '/portal/sign-out', cookie, body: 'a=1234567' };
  const status = await sendFormSlowly(
    form,
    'portal_sessions',
    () => sql`update api_tokens set revoked_at = now() where token_id = ${token_id}`,
  );
  expect(status).toBe(401);
});

test.each([
  [MESSAGE_PATH, { game_id: 'g-1', text: 'Late' }],
  [REFRESH_PATH, { game_ids: ['g-1'] }],
])(
  'an application whose token is revoked while its call of %s arrives writes nothing',
  async (path, body) => {
    const { sql } = api.database;
    await addApplication(sql, `late-${path.length}`);
    const { token, token_id } = await addToken(sql, `late-${path.length}`);
    const status = await sendSlowly(
      new URL(path, api.url),
      { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      JSON.stringify(body),
      async () => {
        await until('the call is let in', () => isUsed(token_id));
        await sql`update api_tokens set revoked_at = now() where token_id = ${token_id}`;
      },
    );
    expect(status).toBe(401);
  },
);
