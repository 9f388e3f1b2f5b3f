import { expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { useOwnAccount } from '#test/console/own-account.ts';
import { noticeOf, sessionIds } from '#test/support/accounts.ts';
import { signIn } from '#test/support/console.ts';

const { database, open, isSignedIn, end, audited, url, login } = useOwnAccount();

test('the page shows the own sessions, which one this is, and neither a token nor a hash', async () => {
  const cookies = [await signIn(url(), login()), await signIn(url(), login())];
  const [mine = ''] = cookies;
  await signIn(url(), 'vera');
  const text = await (await open(mine)).text();
  expect(text).toContain(`${login()} of the tests`);
  expect(text).toContain('An administrator sets them');
  expect(text.match(/this session/g)).toHaveLength(1);
  expect(sessionIds(text)).toHaveLength(1);
  const stored = await database.sql<{ hash: Buffer }[]>`select session_hash as hash from operator_sessions`;
  expect(stored.length).toBeGreaterThanOrEqual(3);
  const secrets = [
    ...cookies.map((cookie) => cookie.split('=')[1] ?? ''),
    ...stored.flatMap(({ hash }) => [
      hash.toString('hex'),
      hash.toString('base64'),
      hash.toString('base64url'),
    ]),
  ];
  for (const secret of secrets) expect(text).not.toContain(secret);
});

test('an operator ends one session, or all others; this one stays', async () => {
  const [one, two, three, mine] = [
    await signIn(url(), login()),
    await signIn(url(), login()),
    await signIn(url(), login()),
    await signIn(url(), login()),
  ];
  const [id = ''] = sessionIds(await (await open(mine)).text());
  const ended = await end(mine, id);
  expect(noticeOf(ended)).toContain('The session has ended.');
  const left = await Promise.all([one, two, three].map(isSignedIn));
  expect(left.filter(Boolean)).toHaveLength(2);
  expect(noticeOf(await end(mine, id))).toContain('That session had already ended.');

  expect(noticeOf(await end(mine, 'others'))).toContain('Other sessions that ended: 2.');
  expect(await Promise.all([one, two, three, mine].map(isSignedIn))).toEqual([false, false, false, true]);
  const entries = await audited('session.end');
  expect(entries.map(({ subject, details }) => [subject, details.sessions])).toEqual([
    [`operator:${login()}`, 2],
    [`operator:${login()}`, 1],
  ]);
});

test('an operator who knows the id of the session of somebody else cannot end it, nor learn that it exists', async () => {
  const victim = await signIn(url(), login());
  const another = await signIn(url(), login());
  const [id = ''] = sessionIds(await (await open(victim)).text());
  const attacker = await signIn(url(), 'vera');
  const guessed = await end(attacker, id);
  const unknown = await end(attacker, '0'.repeat(64));
  expect([guessed.status, noticeOf(guessed)]).toEqual([unknown.status, noticeOf(unknown)]);
  expect(await listAudit(database.sql, { actor: 'vera', action: 'session.end', limit: 5 })).toEqual([]);
  await end(attacker, 'others');
  for (const wrong of ['', 'all', id.slice(1), `${id}0`, login(), '%'])
    expect((await end(attacker, wrong)).status).toBe(409);
  expect(await Promise.all([victim, another, attacker].map(isSignedIn))).toEqual([true, true, true]);
});

test('of two sessions that end all others at once, one remains', async () => {
  const both = [await signIn(url(), login()), await signIn(url(), login())];
  await Promise.all(both.map((cookie) => end(cookie, 'others')));
  expect((await Promise.all(both.map(isSignedIn))).filter(Boolean)).toHaveLength(1);
});
