// A token, a session or a second person that ends while an act waits in its transaction: the act is not done.
import { expect, test } from 'vitest';
import type { Queryable } from '#db/client.ts';
import { operatorActor, recordAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import { REFRESH_PATH } from '#src/contract/events.ts';
import { MESSAGE_PATH } from '#src/contract/talk.ts';
import { hashSecret } from '#src/identity/secrets.ts';
import { approve } from '#src/operations/requests.ts';
import { addOperators, answerBy, askBy } from '#test/support/approvals.ts';
import { countBlocked, untilBlocked } from '#test/support/blocked.ts';
import { addTestOperator, signIn, TESTS } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { eraseKyc } from '#test/support/operate.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';
import { until } from '#test/support/until.ts';

const api = useOperatorApi();
const reason = (code: string) => ({ code, label: 'Late', text: 'Late' });
const revoke = (token_id: string) =>
  api.database.sql`update api_tokens set revoked_at = now() where token_id = ${token_id}`;
const keepAuditLog = (tx: Queryable): PromiseLike<unknown> =>
  recordAudit(tx, [{ ...TESTS, action: 'operator.add', subject: 'operator:tess' }]);

/** Begins an act, ends its caller while the act waits for what `keep` locks, and lets it go on. @returns the status */
const endWhileWaiting = async (
  act: () => Promise<{ status: number }>,
  end: () => PromiseLike<unknown>,
  keep: (tx: Queryable) => PromiseLike<unknown> = keepAuditLog,
): Promise<number> => {
  let answer: ReturnType<typeof act> | undefined;
  await api.database.sql.begin(async (tx) => {
    await keep(tx);
    answer = act();
    await untilBlocked(api.database.sql);
    await end();
  });
  return (await answer)?.status ?? 0;
};
const send = (url: string, headers: Record<string, string>, body: string | URLSearchParams) =>
  fetch(url, { method: 'POST', redirect: 'manual', headers, body });
const codes = async () =>
  (await api.database.sql<{ code: string }[]>`select code from reasons`).map(({ code }) => code);

/** Adds an application with a game, whose developer has a token and is signed in at the portal with it. */
const addDeveloper = async (application_id: string) => {
  const { sql } = api.database;
  await addApplication(sql, application_id);
  const game = fetchedGame();
  await upsertGames(sql, application_id, [game]);
  const { token, token_id } = await addToken(sql, application_id);
  const signedIn = await send(`${api.served.url}/portal/sign-in`, {}, new URLSearchParams({ token }));
  return {
    game,
    token_id,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    restore: () => sql`update api_tokens set revoked_at = null where token_id = ${token_id}`,
  };
};

test("an act by an operator's token that is revoked meanwhile is not done", async () => {
  const { token, token_id } = await api.addToken('olga', 'admin');
  const status = await endWhileWaiting(
    () => api.call(token, 'reason.add', reason('late_call')),
    () => revoke(token_id),
  );
  expect([status, await codes()]).toEqual([403, expect.not.arrayContaining(['late_call'])]);
});

test('an act at a page whose session ends meanwhile is not done', async () => {
  const { sql } = api.database;
  await addTestOperator(sql, 'vik', 'admin');
  const cookie = await signIn(api.served.url, 'vik');
  const form = new URLSearchParams({ act: 'add', ...reason('late_form') });
  const status = await endWhileWaiting(
    () => send(`${api.served.url}/reasons`, { cookie }, form),
    () => sql`delete from operator_sessions where login = 'vik'`,
  );
  expect([status, await codes()]).toEqual([403, expect.not.arrayContaining(['late_form'])]);
});

test('what a developer writes by a token that is revoked meanwhile, or a session that ends, is not written', async () => {
  const { sql } = api.database;
  const { game, token_id, headers, cookie, restore } = await addDeveloper('acme');
  const { game_id } = game;
  const write = () =>
    send(
      `${api.served.url}/portal/game/thread`,
      { cookie },
      new URLSearchParams({ id: game.application_game_id, act: 'message', text: 'Late' }),
    );
  const statuses = [
    await endWhileWaiting(
      () => send(`${api.url}${MESSAGE_PATH}`, headers, JSON.stringify({ game_id, text: 'Late' })),
      () => revoke(token_id),
    ),
    await restore().then(() => endWhileWaiting(write, () => revoke(token_id))),
    await restore().then(() => endWhileWaiting(write, () => sql`delete from portal_sessions`)),
  ];
  expect(await sql`select from game_messages`).toHaveLength(0);
  expect(statuses).toEqual([403, 403, 403]);
});

test('games that are requested by a token that is revoked meanwhile are not pulled, at the API and at the portal', async () => {
  const { sql } = api.database;
  const { game, token_id, headers, cookie, restore } = await addDeveloper('globex');
  const id = game.application_game_id;
  const waitForRequest = (act: () => Promise<{ status: number }>): Promise<number> =>
    endWhileWaiting(
      act,
      () => revoke(token_id),
      // Of an operator, long ago; the act waits for it, because it is of the same game.
      (tx) => tx`
        insert into refresh_requests (application_id, application_game_id, requested_at, by_operator)
        values ('globex', ${id}, '2026-01-01', true)`,
    );
  const requested = () => sql`delete from refresh_requests where requested_at > '2026-01-02' returning 1`;
  const forget = () => sql`delete from refresh_requests`;
  const byToken = await waitForRequest(() =>
    send(`${api.url}${REFRESH_PATH}`, headers, JSON.stringify({ game_ids: [id] })),
  );
  expect([byToken, (await requested()).length]).toEqual([403, 0]);
  await forget();
  await restore();
  const bySession = await waitForRequest(() =>
    send(`${api.served.url}/portal/game`, { cookie }, new URLSearchParams({ id })),
  );
  expect([bySession, (await requested()).length]).toEqual([403, 0]);
});

test('a session ends before what its operator does to the own sessions, or after it', async () => {
  const { sql } = api.database;
  await addTestOperator(sql, 'wim', 'viewer');
  const [cookie = '', other = ''] = [
    await signIn(api.served.url, 'wim'),
    await signIn(api.served.url, 'wim'),
  ];
  const session = (of: string) => sql`session_hash = ${hashSecret(of.split('=')[1] ?? '')}`;
  let ended = false;
  let act: Promise<Response> | undefined;
  let end: Promise<unknown> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from operator_sessions where ${session(other)} for update`;
    act = send(`${api.served.url}/account/sessions`, { cookie }, new URLSearchParams({ session: 'others' }));
    await untilBlocked(api.database.sql);
    end = sql`delete from operator_sessions where ${session(cookie)}`.then(() => {
      ended = true;
    });
    await until(
      'the end waits, or has come',
      async () => ended || (await countBlocked(api.database.sql)) === 2,
    );
    expect(ended).toBe(false);
  });
  await Promise.all([act, end]);
  expect(await sql`select from operator_sessions where login = 'wim'`).toHaveLength(0);
});

test('a token revokes itself, and an administrator signs herself out everywhere', async () => {
  const { token, token_id } = await api.addToken('ola', 'admin');
  expect((await api.call(token, 'token.revoke', { token_id })).status).toBe(200);
  const other = await api.addToken('olu', 'admin');
  expect((await api.call(other.token, 'operator.sign_out', { login: 'olu' })).status).toBe(200);
});

test.each([
  ['is disabled', { status: 'disabled' }],
  ['loses the role', { roles: ['viewer'] }],
])('what an officer approved who %s while it waits is not done', async (what, end) => {
  const { sql } = api.database;
  const application_id = what.replaceAll(' ', '-');
  await addApplication(sql, application_id);
  const kim = { ...operatorActor(`kim-${application_id}`), reason: 'x' };
  const lee = `lee-${application_id}`;
  await addOperators(sql, { [kim.actor]: ['kyc_officer'], [lee]: ['kyc_officer'] });
  const request = { kind: 'erase', subject: `application:${application_id}`, reason: 'x' } as const;
  const { approval_id } = await askBy(sql, kim.actor, request);
  await answerBy(sql, lee, approve, approval_id);
  let why: unknown;
  await endWhileWaiting(
    async () => {
      why = await eraseKyc(sql, application_id, kim, { fourEyes: FOUR_EYES_BY_DEFAULT, approval_id }).catch(
        String,
      );
      return { status: 409 };
    },
    () => sql`update operators set ${sql(end)} where login = ${lee}`,
  );
  expect(why).toContain(`${kim.actor} or ${lee} is disabled, or has lost the role`);
});
