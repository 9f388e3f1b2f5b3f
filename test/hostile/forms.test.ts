import { expect, test } from 'vitest';
import { useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { watchTurns } from '#test/support/longest-turn.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const site = useTestConsole(database);

/** As in event-loop.test.ts. */
const TURN_MAX_MS = 250;

const send = (path: string, body: string, cookie = '') =>
  fetch(new URL(path, site.url), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });

test('a form that names one field thousands of times does not stop the console for the others', async () => {
  await addApplication(database.sql, 'acme');
  const { token } = await addToken(database.sql, 'acme');
  const signedIn = await send('/portal/sign-in', `token=${token}`);
  expect(signedIn.status).toBe(303);
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const turns = watchTurns();
  for (const [path, bytes] of [
    ['/sign-in', 4_000],
    ['/portal/sign-in', 4_000],
    ['/portal/game/thread', 24_000],
  ] as const)
    expect([path, (await send(path, 'a&'.repeat(bytes / 2), cookie)).status]).toEqual([path, 400]);
  const longest = turns.longestMs();
  turns.stop();
  expect(longest).toBeLessThan(TURN_MAX_MS);
});

test.each(['application/json', 'text/plain'])('a body of the type %s is no form', async (type) => {
  const body = JSON.stringify({ token: 'a\u0000b' });
  const answer = await fetch(new URL('/portal/sign-in', site.url), {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
  expect(answer.status).toBe(415);
});
