import { expect } from 'vitest';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { addApplication, addToken, fetchedGame } from '#test/support/factories.ts';

/** A developer of a new application with some games, signed in. */
export const arrive = async (
  sql: Database,
  url: string,
  application_id: string,
  games: Parameters<typeof fetchedGame>[0][] = [],
) => {
  await addApplication(sql, application_id);
  await upsertGames(
    sql,
    application_id,
    games.map((game) => fetchedGame(game)),
  );
  const { token } = await addToken(sql, application_id);
  const call = (path: string, cookie: string, body?: Record<string, string>) =>
    fetch(new URL(path, url), {
      redirect: 'manual',
      headers: { cookie },
      ...(body && { method: 'POST', body: new URLSearchParams(body) }),
    });
  const [cookie = ''] = (await call('/portal/sign-in', '', { token })).headers.getSetCookie();
  const session = cookie.split(';')[0] ?? '';
  return {
    token,
    call: (path: string, body?: Record<string, string>) => call(path, session, body),
    page: async (path: string) => (await call(path, session)).text(),
    /** How a page is answered that polls. */
    poll: async (path: string) => {
      const headers = { cookie: session, 'hx-request': 'true' };
      const { status, headers: sent } = await fetch(new URL(path, url), { headers });
      return { status, refresh: sent.get('hx-refresh') };
    },
    /** What the next page says after a form was sent. */
    said: async (path: string, body: Record<string, string>) => {
      const answer = await call(path, session, body);
      expect(answer.status).toBe(303);
      const notice = answer.headers.getSetCookie().find((each) => each.startsWith('catalogue_notice='));
      return decodeURIComponent(notice?.split(';')[0]?.split('=')[1] ?? '');
    },
  };
};
