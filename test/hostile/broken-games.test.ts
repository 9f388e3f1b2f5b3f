import { describe, expect, test } from 'vitest';
import { findApplication } from '#db/queries/applications.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { tick } from '#src/ingest/specs.ts';
import type { TestFleet } from '#test/support/fleet.ts';
import {
  type Answer,
  aFleet,
  type Behaviour,
  goodDetail,
  goodRow,
  idsOf,
  raw,
  startHostileApplication,
} from '#test/support/hostile-application.ts';
import { until } from '#test/support/until.ts';

const hangUp: Answer = (response) => void response.socket?.destroy();
const pageOf = (ids: readonly string[], pageNum: number, pageSize: number): Answer => ({
  data: { total: ids.length, list: ids.slice((pageNum - 1) * pageSize, pageNum * pageSize).map(goodRow) },
});

/** The run that the application's schedule opens now. */
const scheduledRun = async (fleet: TestFleet): Promise<RunRow> => {
  const { id } = await fleet.producer.add(tick, { application_id: 'acme', schedule: 'games' as const });
  const run_id = await until('the tick opened a run', async () => {
    const job = await fleet.producer.queue(tick).getJob(id ?? '');
    return job?.returnvalue?.run_id;
  });
  return fleet.ended(String(run_id));
};

const countGames = async ({ sql }: TestFleet, prefix: string): Promise<number> => {
  const [row] = await sql<{ games: number }[]>`
    select count(*)::int as games from games
    where application_game_id like ${`${prefix}%`} and withdrawn_at is null`;
  return row?.games ?? 0;
};

describe('Three broken games of one page', () => {
  test.each([
    ['HTTP 500', raw('oops', 500)],
    ['HTTP 404', raw('oops', 404)],
    ['no HTTP answer', hangUp],
  ])('that get %s cost only themselves, run after run', async (_, broken) => {
    const fleet = await aFleet();
    let ids = idsOf('g', 300);
    const neighbours = new Set(['g-0110', 'g-0111', 'g-0112']);
    await startHostileApplication(fleet, 'acme', {
      list: (pageNum, pageSize) => pageOf(ids, pageNum, pageSize),
      detail: (id) => (neighbours.has(id) ? broken : { data: goodDetail(id) }),
    });
    const lost = (run: RunRow) => run.failed + run.invalid;
    const first = await scheduledRun(fleet);
    expect(first).toMatchObject({ outcome: 'partial', listed: 300, inserted: 297 });
    expect(lost(first)).toBe(3);
    for (let run = 1; run <= 4; run += 1) {
      ids = [...ids, `new-${run}`];
      const next = await scheduledRun(fleet);
      expect(next).toMatchObject({ outcome: 'partial', listed: 300 + run, inserted: 1 });
      expect(lost(next)).toBe(3);
    }
    expect(await countGames(fleet, 'new-')).toBe(4);
    const application = await findApplication(fleet.sql, 'acme');
    expect(application).toMatchObject({ status: 'active', failed_runs: 0, next_attempt_at: null });
  });
});

test('new games that get no HTTP response do not end a run that wants no other detail', async () => {
  const fleet = await aFleet();
  let ids = idsOf('g', 150);
  const behaviour: Behaviour = {
    list: (pageNum, pageSize) => pageOf(ids, pageNum, pageSize),
    detail: (id) => (id.startsWith('broken') ? hangUp : { data: goodDetail(id) }),
  };
  await startHostileApplication(fleet, 'acme', behaviour);
  await fleet.sync('acme');
  ids = [...idsOf('broken', 3), ...ids, 'new-1'];
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', listed: 154, inserted: 1, failed: 3 });
});

test('a detail webhook that gives no HTTP response ends the first run at its first page, the second one page later', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 500);
  const { calls } = await startHostileApplication(fleet, 'acme', {
    list: (pageNum, pageSize) => pageOf(ids, pageNum, pageSize),
    detail: () => hangUp,
  });
  const first = await scheduledRun(fleet);
  expect(first).toMatchObject({ outcome: 'failed', fault: 'unreachable', listed: 100, failed: 100 });
  expect(first.reason).toMatch(/^no detail call of page 1 was answered \(connect_failed \d+\)$/);
  expect(calls.list).toBe(1);
  await fleet.sql`update applications set next_attempt_at = null`;
  const second = await scheduledRun(fleet);
  expect(second).toMatchObject({ outcome: 'failed', listed: 200, failed: 200 });
  expect(second.reason).toMatch(/^no detail call of page 2 was answered/);
  expect(await findApplication(fleet.sql, 'acme')).toMatchObject({ failed_runs: 2 });
});

const nothing = (rows: number): Answer =>
  raw(`{"ret_code":0,"ret_msg":"success","data":{"total":1,"list":[${'1,'.repeat(rows)}1]}}`);

const unreadable: [string, Answer, string][] = [
  ['bytes that are not UTF-8', raw(Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 'not_utf8'],
  ['HTML', raw('<html>'), 'not_json'],
  ['a body over four megabytes', raw(Buffer.alloc(5 * 1024 * 1024, 0x20)), 'body_too_large'],
  ['no list', { data: null }, 'invalid_data (invalid_type)'],
  ['two million rows that are nothing', nothing(2e6), 'too_many_values'],
  ['two thousand rows that are nothing', nothing(2e3), 'invalid_data (list: too_big)'],
  ['HTTP 500', raw('oops', 500), 'http_status HTTP 500'],
  [
    'a ret_code',
    raw('{"ret_code":50001,"ret_msg":"no database","data":null}', 500),
    'ret_code 50001 "no database"',
  ],
];

describe('A list page that cannot be read', () => {
  test.each(unreadable)(
    '(%s) is skipped: the pages behind it land, nothing is withdrawn',
    async (_, answer, code) => {
      const fleet = await aFleet();
      let ids = idsOf('g', 450);
      let broken = 0;
      const { calls } = await startHostileApplication(fleet, 'acme', {
        list: (pageNum, pageSize) => (pageNum === broken ? answer : pageOf(ids, pageNum, pageSize)),
        detail: (id) => (id === 'g-0000' ? { data: null } : { data: goodDetail(id) }),
      });
      await fleet.sync('acme');
      ids = [...ids.slice(1), 'new-1'];
      broken = 2;
      calls.list = 0;
      const run = await fleet.sync('acme');
      expect(run).toMatchObject({ outcome: 'partial', listed: 350, inserted: 1, withdrawn: 0 });
      expect(run.reason).toBe(`page 2 could not be read: ${code}`);
      expect(await countGames(fleet, 'g-')).toBe(449);
      // Five attempts of page 2, and two pages past the end: the first is empty while rows are missing.
      expect(calls.list).toBe(1 + 5 + 3 + 2);
      broken = 0;
      expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', listed: 450, inserted: 0 });
    },
  );
});

test('a first page that cannot be read is skipped, one that fails ends the run', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 250);
  let answer: Answer = raw('<html>');
  const { calls } = await startHostileApplication(fleet, 'acme', {
    list: (pageNum, pageSize) => (pageNum === 1 ? answer : pageOf(ids, pageNum, pageSize)),
    detail: (id) => ({ data: goodDetail(id) }),
  });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', inserted: 150 });
  answer = raw('oops', 500);
  calls.list = 0;
  const failed = await fleet.sync('acme');
  expect(failed).toMatchObject({ outcome: 'failed', listed: 0, reason: 'page 1: http_status HTTP 500' });
  expect(calls.list).toBe(5);
});

test('two pages in a row that cannot be read end the run as failed, and its reason names both', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 450);
  await startHostileApplication(fleet, 'acme', {
    list: (pageNum, pageSize) =>
      pageNum === 2 ? raw('<html>') : pageNum === 3 ? raw('oops', 502) : pageOf(ids, pageNum, pageSize),
    detail: (id) => ({ data: goodDetail(id) }),
  });
  const run = await fleet.sync('acme');
  expect(run).toMatchObject({ outcome: 'failed', listed: 100, withdrawn: 0 });
  expect(run.reason).toBe('page 2: not_json; page 3: http_status HTTP 502');
});

test.each([401, 403, 404, 410, 301])('a refused page (HTTP %i) ends the run as failed', async (status) => {
  const fleet = await aFleet();
  const ids = idsOf('g', 250);
  await startHostileApplication(fleet, 'acme', {
    list: (pageNum, pageSize) =>
      pageNum === 2 ? raw('', status, { location: '/elsewhere' }) : pageOf(ids, pageNum, pageSize),
    detail: (id) => ({ data: goodDetail(id) }),
  });
  const run = await fleet.sync('acme');
  expect(run).toMatchObject({ outcome: 'failed', listed: 100, inserted: 100, withdrawn: 0 });
  expect(run.reason).toMatch(new RegExp(`^page 2: .*HTTP ${status}$`));
});
