import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { pruneEvents } from '#db/queries/events.ts';
import { LIST_EVENTS_PATH } from '#src/contract/events.ts';
import { post, useApi } from '#test/support/api.ts';
import { expectEachRead } from '#test/support/commits-out-of-order.ts';
import { decideGame } from '#test/support/operate.ts';

const served = useApi({ auditTimeZone: 'Asia/Shanghai' });

const withGames = async (count: number) => {
  const application = await served.addApplicationWithGames(count);
  const list = async (after: string, limit?: number) =>
    post(served.api.url, LIST_EVENTS_PATH, application.token, { after, limit });
  return { ...application, list };
};
const pass = (game_id: string) => decideGame(served.api.sql, { game_id, audit_status: 'passed' });
/** Gives the event of a game an id of 2024. */
const makeOld = (game_id: string | undefined, day = 10) => served.api.sql`
  update events set event_id = (${`0190${day}`} || substr(event_id::text, 7))::uuid where game_id = ${game_id ?? ''}`;
const prune = (limit: number, from = '') => pruneEvents(served.api.sql, 90 * 86_400_000, limit, from);

it('lists the events of the application in their order, with times in the formats of the platform', async () => {
  const acme = await withGames(3);
  const other = await withGames(1);
  expect((await acme.list('')).body).toEqual({
    ret_code: 0,
    ret_msg: 'success',
    data: { list: [], next: '' },
  });
  for (const game_id of acme.game_ids) await pass(game_id);
  await pass(other.game_ids[0] ?? '');
  const first = (await acme.list('', 2)).body.data;
  expect(first.list).toEqual(
    acme.game_ids.slice(0, 2).map((game_id) => ({
      event_id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      type: 'game.passed',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: {
        game_id,
        application_game_id: expect.any(String),
        game_name: 'Lantern Harbour',
        audit_status: 'passed',
        audit_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
        revision: 1,
        why: 'decided',
      },
    })),
  );
  // Eight hours ahead of UTC, without seconds' fractions.
  const [{ timestamp, data }] = first.list;
  const local = new Date(`${data.audit_time.replace(' ', 'T')}+08:00`).getTime();
  expect(Math.abs(Date.parse(timestamp) - local)).toBeLessThan(60_000);
  expect(first.next).toBe(first.list[1].event_id);
  const second = (await acme.list(first.next)).body.data;
  expect(second.list.map((event: { data: { game_id: string } }) => event.data.game_id)).toEqual([
    acme.game_ids[2],
  ]);
  expect((await acme.list(second.next)).body.data).toEqual({ list: [], next: second.next });
});

it('refuses a cursor of another application, one that was deleted, and an operator', async () => {
  const [acme, other] = [await withGames(4), await withGames(1)];
  for (const game_id of acme.game_ids) await pass(game_id);
  for (const game_id of acme.game_ids.slice(0, 2)) await makeOld(game_id);
  const [first, second, third] = (await acme.list('')).body.data.list;
  expect((await other.list(first.event_id)).body).toMatchObject({ ret_code: 41001, data: null });
  expect((await other.list(randomUUID())).status).toBe(410);
  expect((await other.list('g-1')).body).toMatchObject({
    ret_code: 40001,
    ret_msg: expect.stringMatching(/^after must/),
  });
  expect((await other.list('', 101)).body).toMatchObject({
    ret_code: 40001,
    ret_msg: 'limit must be at most 100',
  });
  const asOperator = await post(served.api.url, LIST_EVENTS_PATH, served.operatorToken, { after: '' });
  expect(asOperator).toMatchObject({ status: 403, body: { ret_code: 40301 } });

  expect(await prune(100)).toEqual({ deleted: 1, last: undefined });
  expect((await acme.list(first.event_id)).body).toMatchObject({ ret_code: 41001 });
  // Who had read up to the last deleted day has missed nothing.
  expect((await acme.list(second.event_id)).body.data.list[0].event_id).toBe(third.event_id);
});

it('deletes old events in their order: a place that is left misses none', async () => {
  const acme = await withGames(4);
  for (const game_id of acme.game_ids) await pass(game_id);
  // The ids have the opposite order, as after late commits.
  for (const [n, game_id] of acme.game_ids.entries()) await makeOld(game_id, 20 - n);
  const all = (await acme.list('')).body.data.list;
  for (const [n, { event_id }] of all.slice(0, 3).entries()) {
    expect((await prune(2, acme.application_id)).deleted).toBe(1);
    expect((await acme.list(event_id)).body).toMatchObject({ ret_code: 41001 });
    expect((await acme.list('')).body.data.list).toMatchObject(
      all.slice(n + 1).map((event: { event_id: string }) => ({ event_id: event.event_id })),
    );
  }
});

it('deletes the old events of other applications too if the first of one was written while the clock was ahead', async () => {
  const both = [await withGames(3), await withGames(3)].toSorted((one, other) =>
    one.application_id < other.application_id ? -1 : 1,
  );
  const [ahead, other] = both;
  for (const { game_ids, list } of both) {
    for (const game_id of game_ids) await pass(game_id);
    await list('');
  }
  for (const game_id of [...(ahead?.game_ids.slice(1) ?? []), ...(other?.game_ids.slice(0, 2) ?? [])])
    await makeOld(game_id);
  let total = 0;
  for (let from: string | undefined = ahead?.application_id; from !== undefined; ) {
    const { deleted, last } = await prune(2, from);
    total += deleted;
    from = last;
  }
  expect(total).toBe(1);
  expect((await other?.list(''))?.body.data.list).toHaveLength(2);
  expect((await ahead?.list(''))?.body.data.list).toHaveLength(3);
});

it('continues after an event that was sent and that no reader has listed yet', async () => {
  const acme = await withGames(2);
  const [first = '', second = ''] = acme.game_ids;
  await pass(first);
  // The webhook-id of its delivery.
  const [sent] = await served.api.sql<{ event_id: string }[]>`
    select event_id from events where game_id = ${first}`;
  const event_id = sent?.event_id ?? '';
  expect((await acme.list(event_id)).body).toMatchObject({ ret_code: 0, data: { list: [], next: event_id } });
  await pass(second);
  expect((await acme.list(event_id)).body.data.list).toMatchObject([{ data: { game_id: second } }]);
});

it('misses no event of fifty transactions that commit out of order, one of them last', async () => {
  const acme = await withGames(51);
  let after = '';
  const read = async (): Promise<string[]> => {
    const { list, next } = (await acme.list(after, 3)).body.data;
    after = next;
    return list.map((event: { data: { game_id: string } }) => event.data.game_id);
  };
  await expectEachRead(
    served.api.databaseUrl,
    acme.game_ids,
    (tx, game_id) =>
      tx`update games set audit_status = 'passed', audit_time = now() where game_id = ${game_id}`,
    read,
  );
});

it('keeps the order of the changes, although the clock of Postgres was set back between them', async () => {
  const { application_id, game_ids, list } = await withGames(1);
  await pass(game_ids[0] ?? '');
  await served.api.sql`
    update events set created_at = created_at + interval '1 hour' where application_id = ${application_id}`;
  const rejection = { audit_status: 'rejected', reason: 'duplicate' } as const;
  await decideGame(served.api.sql, { game_id: game_ids[0] ?? '', ...rejection });
  const types = (await list('')).body.data.list.map(({ type }: { type: string }) => type);
  expect(types).toEqual(['game.passed', 'game.rejected']);
});
