// A token or session that ends while an act waits in its transaction: the act is not done.
import { expect, test } from 'vitest';
import { recordAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { MESSAGE_PATH } from '#src/contract/talk.ts';
import { addTestOperator, signIn, TESTS } from '#test/support/console.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';
import { until } from '#test/support/until.ts';

const api = useOperatorApi();
const reason = (code: string) => ({ code, label: 'Late', text: 'Late' });
const revoke = (token_id: string) =>
  api.database.sql`update api_tokens set revoked_at = now() where token_id = ${token_id}`;
const waiting = async () =>
  (
    await api.database.sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  ).count;

/** Begins an act, ends its caller while the act waits for the audit log, and lets it go on. @returns the status */
const endWhileWaiting = async (
  act: () => Promise<{ status: number }>,
  end: () => PromiseLike<unknown>,
): Promise<number> => {
  let answer: ReturnType<typeof act> | undefined;
  await api.database.sql.begin(async (tx) => {
    await recordAudit(tx, [{ ...TESTS, action: 'operator.add', subject: 'operator:tess' }]);
    answer = act();
    await until('the act waits', async () => (await waiting()) === 1);
    await end();
  });
  return (await answer)?.status ?? 0;
};
const send = (url: string, headers: Record<string, string>, body: string | URLSearchParams) =>
  fetch(url, { method: 'POST', redirect: 'manual', headers, body });
const codes = async () =>
  (await api.database.sql<{ code: string }[]>`select code from reasons`).map(({ code }) => code);

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

test('what a developer writes by a token that is revoked meanwhile is not written, at the API and at the portal', async () => {
  const { sql } = api.database;
  await addApplication(sql, 'acme');
  const game = fetchedGame();
  await upsertGames(sql, 'acme', [game]);
  const { token, token_id } = await addToken(sql, 'acme');
  const signedIn = await send(`${api.served.url}/portal/sign-in`, {}, new URLSearchParams({ token }));
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const restore = () => sql`update api_tokens set revoked_at = null where token_id = ${token_id}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const { game_id } = game;
  const statuses = [
    await endWhileWaiting(
      () => send(`${api.url}${MESSAGE_PATH}`, headers, JSON.stringify({ game_id, text: 'Late' })),
      () => revoke(token_id),
    ),
    await restore().then(() =>
      endWhileWaiting(
        () =>
          send(
            `${api.served.url}/portal/game/thread`,
            { cookie },
            new URLSearchParams({ id: game.application_game_id, act: 'message', text: 'Late' }),
          ),
        () => revoke(token_id),
      ),
    ),
  ];
  expect(await sql`select from game_messages`).toHaveLength(0);
  expect(statuses).toEqual([403, 403]);
});

test('a token revokes itself, and an administrator signs herself out everywhere', async () => {
  const { token, token_id } = await api.addToken('ola', 'admin');
  expect((await api.call(token, 'token.revoke', { token_id })).status).toBe(200);
  const other = await api.addToken('olu', 'admin');
  expect((await api.call(other.token, 'operator.sign_out', { login: 'olu' })).status).toBe(200);
});
