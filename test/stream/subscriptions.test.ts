import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { deleteFormerSecrets } from '#db/queries/receivers.ts';
import { findSubscription } from '#db/queries/subscriptions.ts';
import type { StreamType } from '#src/contract/words.ts';
import { placeEvents } from '#src/events/place-events.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { pauseApplication } from '#src/operations/applications.ts';
import { rotateSubscriptionSecret } from '#src/operations/events.ts';
import { subscribe, unsubscribe } from '#src/operations/subscriptions.ts';
import { runCli } from '#test/support/cli.ts';
import { aReceiver, aSender, isGenuine, type Received } from '#test/support/events.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { everyRow } from '#test/support/stored.ts';
import { until } from '#test/support/until.ts';

const fleet = useTestFleet(fleetBackend());

const SILENT = pino({ level: 'silent' });
let names = 0;
/** Adds an application with this many new games. */
const addNewGames = async (count: number) => {
  names += 1;
  const application_id = `told-${names}`;
  await addApplication(fleet.sql, application_id);
  const games = Array.from({ length: count }, (_, n) => fetchedGame({ game_id: `g-${n}` }));
  for (const game of games) await upsertGames(fleet.sql, application_id, [game]);
  return { application_id, games };
};
const subscribeTo = (url: string, types: StreamType[] = []) =>
  operateAs(fleet.sql, KIM, subscribe, { url, types });
/** One job of a worker. */
const deliver = async (subscription_id: string) => {
  await placeEvents(fleet.sql, 'stream_events');
  return aSender(fleet.sql).deliver({ subscription_id }, new AbortController().signal, SILENT);
};
const idsOf = (received: readonly Received[]) => received.map(({ headers }) => headers['webhook-id']);
const gamesOf = (received: readonly Received[]) =>
  received.map(({ body }) => JSON.parse(body).data.application_game_id);
const passTime = (interval: string) => fleet.sql`
  update event_subscriptions
  set next_attempt_at = next_attempt_at - ${interval}::interval, failing_since = failing_since - ${interval}::interval,
      last_attempt_at = last_attempt_at - ${interval}::interval`;

beforeEach(async () => {
  await fleet.sql`delete from event_subscriptions`;
  await placeEvents(fleet.sql, 'stream_events');
});

it('sends every event from now on, signed, and of the types that were asked for', async () => {
  const { received, url } = await aReceiver();
  await addNewGames(2);
  await placeEvents(fleet.sql, 'stream_events');
  const { subscription_id, secret } = await subscribeTo(url, ['game.received', 'game.passed']);
  const { application_id, games } = await addNewGames(40);
  await decideGame(fleet.sql, { game_id: games[0]?.game_id ?? '', audit_status: 'passed' });
  expect(await deliver(subscription_id)).toEqual({ delivered: 41, failed: 0 });
  expect(gamesOf(received).toSorted()).toEqual(
    ['g-0', ...games.map((game) => game.application_game_id)].toSorted(),
  );
  for (const one of received) expect(isGenuine(one, secret)).toBe(true);
  const documents = received.map(({ body }) => JSON.parse(body));
  expect(documents.find(({ type }) => type === 'game.passed')).toMatchObject({
    data: { application_id, audit_status: 'passed', revision: 1, why: 'decided' },
  });
  expect(await findSubscription(fleet.sql, subscription_id)).toMatchObject({ waiting: 0, failures: 0 });
});

it('sends the events of a game one after the other, those of other games at once, and an event of no game alone', async () => {
  const open = new Set<string | undefined>();
  const held: (() => void)[] = [];
  const [overlaps, arrived]: [string[], string[]] = [[], []];
  const { url } = await aReceiver((response, { body }) => {
    const { type, data } = JSON.parse(body);
    const { game_id } = data;
    if (open.has(game_id) || open.has(undefined) || (game_id === undefined && open.size > 0))
      overlaps.push(type);
    open.add(game_id);
    arrived.push(type);
    held.push(() => {
      open.delete(game_id);
      response.writeHead(204).end();
    });
    // An event of one game is answered late, after that of the other has come.
    if (game_id === undefined || held.length === 2)
      setTimeout(() => held.splice(0).map((answer) => answer()), 200);
  });
  const { application_id, games } = await addNewGames(2);
  await placeEvents(fleet.sql, 'stream_events');
  const { subscription_id } = await subscribeTo(url);
  for (const audit_status of ['passed', 'rejected'] as const)
    for (const { game_id } of games) await decideGame(fleet.sql, { game_id, audit_status, reason: 'rights' });
  await operateAs(fleet.sql, KIM, pauseApplication, { application_id });
  for (const { game_id } of games) await decideGame(fleet.sql, { game_id, audit_status: 'passed' });
  expect(await deliver(subscription_id)).toEqual({ delivered: 7, failed: 0 });
  expect(overlaps).toEqual([]);
  const [passed, rejected] = ['game.passed', 'game.rejected'];
  expect(arrived).toEqual([passed, passed, rejected, rejected, 'application.paused', passed, passed]);
});

it('an event that is refused is sent again and none is left out, also after the address was off', async () => {
  let isBroken = true;
  const accepted: Received[] = [];
  const { url } = await aReceiver((response, one) => {
    const isRefused = isBroken && one.body.includes('"g-3"');
    if (!isRefused) accepted.push(one);
    response.writeHead(isRefused ? 500 : 204).end();
  });
  const { subscription_id } = await subscribeTo(url, ['game.received']);
  const { games } = await addNewGames(8);
  await deliver(subscription_id);
  const state = () => findSubscription(fleet.sql, subscription_id);
  // The three before it have arrived for good; those behind it come again.
  expect(await state()).toMatchObject({ failures: 1, last_error: 'HTTP 500', waiting: 5, status: 'active' });
  expect(await deliver(subscription_id)).toEqual({ delivered: 0, failed: 0 });
  for (let n = 0; n < 4; n += 1) {
    await passTime('20 hours');
    await deliver(subscription_id);
  }
  expect(await state()).toMatchObject({
    status: 'off',
    off_reason: 'The address has failed for three days.',
  });
  const [logged] =
    await fleet.sql`select action, subject, actor from audit_log order by entry_id desc limit 1`;
  expect(logged).toEqual({
    action: 'event_webhook.off',
    subject: `subscription:${subscription_id}`,
    actor: 'worker',
  });
  isBroken = false;
  const resumed = await runCli(['event', 'resume', subscription_id], asOperator(fleet.databaseUrl));
  expect(resumed).toMatchObject({ exit: 0, stdout: `The stream is sent to ${url} again.\n` });
  await deliver(subscription_id);
  expect(new Set(gamesOf(accepted))).toEqual(new Set(games.map((game) => game.application_game_id)));
  expect(gamesOf(accepted.slice(-5))).toEqual(['g-3', 'g-4', 'g-5', 'g-6', 'g-7']);
  expect(new Set(idsOf(accepted)).size).toBe(8);
});

it('after a rotation both secrets sign for 24 hours, then the new one alone', async () => {
  const { received, url } = await aReceiver();
  const { subscription_id, secret } = await subscribeTo(url, ['game.received']);
  const rotated = await operateAs(fleet.sql, KIM, rotateSubscriptionSecret, { subscription_id });
  const signedBy = async () => {
    await addNewGames(1);
    await deliver(subscription_id);
    const [one] = received.splice(0);
    return [secret, rotated.secret].map((each) => one !== undefined && isGenuine(one, each));
  };
  expect(await signedBy()).toEqual([true, true]);
  expect(rotated.former_until).toEqual((await findSubscription(fleet.sql, subscription_id))?.former_until);
  // A call that timed out is repeated: the secret that the subscriber has goes on to sign.
  await expect(operateAs(fleet.sql, KIM, rotateSubscriptionSecret, { subscription_id })).rejects.toThrow(
    /^The former secret signs until 2/,
  );
  expect(await signedBy()).toEqual([true, true]);
  await fleet.sql`update event_subscriptions set former_until = former_until - interval '24 hours'`;
  expect(await signedBy()).toEqual([false, true]);
  await deleteFormerSecrets(fleet.sql);
  const rows = await fleet.sql`select former_secret, former_until from event_subscriptions`;
  expect(rows).toEqual([{ former_secret: null, former_until: null }]);
  const next = await operateAs(fleet.sql, KIM, rotateSubscriptionSecret, { subscription_id });
  const former_until = next.former_until?.toISOString();
  await operateAs(fleet.sql, KIM, rotateSubscriptionSecret, { subscription_id, former_until });
  expect(await signedBy()).toEqual([false, false]);
  const stored = JSON.stringify(await everyRow(fleet.sql));
  for (const each of [secret, rotated.secret]) expect(stored).not.toContain(each);
});

it('one job a subscription sends within seconds; a worker that is killed and a lost queue lose nothing', async () => {
  const { received, url } = await aReceiver();
  await subscribeTo(url, ['game.received']);
  const { games } = await addNewGames(5);
  await Promise.all([1, 2].map(() => addUrgentJobs(fleet.sql, fleet.producer)));
  await fleet.flushQueue();
  const worker = await fleet.startWorker();
  await addUrgentJobs(fleet.sql, fleet.producer);
  await until('the events arrive', () => received.length >= games.length);
  await worker.stop(0);
  expect(new Set(idsOf(received)).size).toBe(games.length);
});

it('on the command line: subscribe, list, read the stream, unsubscribe', async () => {
  const { url } = await aReceiver();
  const run = (...args: string[]) => runCli(['event', ...args], asOperator(fleet.databaseUrl));
  const latest = JSON.parse((await run('list', '--after', 'latest', '--json')).stdout);
  const made = await run('subscribe', '--url', url, '--type', 'game.received', '--json');
  const { subscription_id, secret } = JSON.parse(made.stdout);
  expect(secret).toMatch(/^whsec_/);
  const { application_id } = await addNewGames(2);
  const read = await run('list', '--after', latest.next, '--limit', '2');
  expect(read.stdout).toContain(`${application_id}`);
  expect(read.stdout).toContain('application.added');
  const next = /--after (\d+)/.exec(read.stdout)?.[1] ?? '';
  const rest = JSON.parse((await run('list', '--after', next, '--type', 'game.received', '--json')).stdout);
  expect(rest.list).toMatchObject([
    { type: 'game.received', data: { application_id, application_game_id: 'g-1' } },
  ]);
  const listed = JSON.parse((await run('subscriptions', '--json')).stdout);
  expect(listed.subscriptions).toMatchObject([
    { subscription_id, url, types: ['game.received'], waiting: 3 },
  ]);
  expect(JSON.stringify(listed)).not.toContain(secret);
  const rotated = await run('secret', 'rotate', '--subscription', subscription_id.slice(0, 13), '--json');
  expect(JSON.parse(rotated.stdout)).toMatchObject({
    subscription_id,
    secret: expect.stringMatching(/^whsec_/),
  });
  expect((await run('secret', 'rotate')).stderr).toContain('Name an application, or a subscription');
  expect((await run('list', '--after', 'then')).stderr).toContain('after must be');
  expect((await run('subscribe', '--url', 'ftp://catalogue.example')).exit).toBe(2);
  expect((await run('unsubscribe', subscription_id.slice(0, 13))).stdout).toBe(
    `The stream is no longer sent to ${url}.\n`,
  );
  expect((await run('unsubscribe', subscription_id)).exit).toBe(2);
});

it('there are at most twenty; an ended one is sent nothing', async () => {
  const { received, url } = await aReceiver();
  const made = [];
  for (let n = 0; n < 20; n += 1) made.push(await subscribeTo(url));
  await expect(subscribeTo(url)).rejects.toThrow('There are 20 subscriptions');
  const subscription_id = made[0]?.subscription_id ?? '';
  await operateAs(fleet.sql, KIM, unsubscribe, { subscription_id });
  await addNewGames(1);
  expect(await deliver(subscription_id)).toEqual({ delivered: 0, failed: 0 });
  expect(received).toEqual([]);
});

it('a worker that stops before the first of the events was answered does not count their address as failed', async () => {
  const stop = new AbortController();
  const { received, url } = await aReceiver((response, { body }) => {
    if (!body.includes('"g-0"')) response.writeHead(204).end();
    if (received.length === 3) setTimeout(() => stop.abort(), 200);
  });
  const { subscription_id } = await subscribeTo(url, ['game.received']);
  await addNewGames(3);
  await placeEvents(fleet.sql, 'stream_events');
  const sent = await aSender(fleet.sql).deliver({ subscription_id }, stop.signal, SILENT);
  expect(sent).toEqual({ delivered: 2, failed: 0 });
  expect(await findSubscription(fleet.sql, subscription_id)).toMatchObject({
    failures: 0,
    last_error: null,
  });
});
