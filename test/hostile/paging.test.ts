import { expect, test } from 'vitest';
import {
  type Answer,
  aFleet,
  type Behaviour,
  goodDetail,
  goodRow,
  idsOf,
  startHostileApplication,
} from '#test/support/hostile-application.ts';

const IDS = idsOf('g', 250);
const detail: Behaviour['detail'] = (id) => ({ data: goodDetail(id) });
const list = (ids: readonly string[], total: number): Answer => ({ data: { total, list: ids.map(goodRow) } });
const slice = (pageNum: number, pageSize: number, ids: readonly string[] = IDS) =>
  ids.slice((pageNum - 1) * pageSize, pageNum * pageSize);

const runOf = async (behaviour: Behaviour['list']) => {
  const fleet = await aFleet();
  const { calls } = await startHostileApplication(fleet, 'acme', { list: behaviour, detail });
  return { fleet, calls, run: await fleet.sync('acme') };
};

test.each([
  ['too low', 10],
  ['too high', 10_000],
  ['zero', 0],
  ['negative', -1],
  ['beyond what is exact', Number.MAX_SAFE_INTEGER],
  ['too large for its column', 1e20],
])('a total that is %s costs no game, and is noted', async (_, total) => {
  const { run } = await runOf((pageNum, pageSize) => list(slice(pageNum, pageSize), total));
  expect(run).toMatchObject({ outcome: total > 250 ? 'partial' : 'succeeded', inserted: 250 });
  if (total > 250) expect(run.reason).toMatch(/^the listing names 250 of \d+ games, \d+ are missing$/);
  expect(run.note).toMatch(/^data\.total said -?\d+, the pages named 250$/);
});

test.each([
  ['a fraction', 2.5],
  ['text', '250'],
  ['null', null],
])('a total that is %s ends the run as failed, with a reason', async (_, total) => {
  const { run, calls } = await runOf((pageNum, pageSize) => ({
    data: { total, list: slice(pageNum, pageSize).map(goodRow) },
  }));
  expect(run).toMatchObject({
    outcome: 'failed',
    inserted: 0,
    reason: 'page 1: invalid_data (total: invalid_type); page 2: invalid_data (total: invalid_type)',
  });
  expect(calls.list).toBe(10);
});

test('a list that starts again is recognised, for any total', async () => {
  const { run, calls } = await runOf((pageNum, pageSize) =>
    list(slice(((pageNum - 1) % 2) + 1, pageSize), 1e6),
  );
  expect(run).toMatchObject({ outcome: 'suspect', inserted: 200, withdrawn: 0 });
  expect(calls.list).toBe(4);
});

test('an application with a page limit of its own is followed at its size', async () => {
  const { run } = await runOf((pageNum) => list(slice(pageNum, 30), 250));
  expect(run).toMatchObject({ outcome: 'succeeded', inserted: 250, note: null });
});

test('an application that sends all games at once, for any page size, is followed', async () => {
  const { run } = await runOf((pageNum) => list(pageNum === 1 ? IDS : [], 250));
  expect(run).toMatchObject({ outcome: 'succeeded', inserted: 250 });
});

test('games that shift to later pages while they are listed count once, and none is withdrawn', async () => {
  // A new game comes in at the front before each page: the last of each page is named again on the next.
  const { run } = await runOf((pageNum, pageSize) => {
    const now = [...idsOf('new', pageNum - 1), ...IDS];
    return list(slice(pageNum, pageSize, now), now.length);
  });
  expect(run).toMatchObject({ outcome: 'partial', inserted: 250, withdrawn: 0 });
  expect(run.reason).toBe('the listing names 250 of 252 games, 2 are missing');
});

test('a game that slides to a page already read is not withdrawn, though another one came for the one that went', async () => {
  let listed = IDS;
  const fleet = await aFleet();
  const { calls } = await startHostileApplication(fleet, 'acme', {
    list: (pageNum, pageSize) => {
      if (calls.list === 5) listed = listed.filter((id) => id !== 'g-0050');
      if (calls.list === 6) listed = [...listed, 'new-0000'];
      return list(slice(pageNum, pageSize, listed), listed.length);
    },
    detail,
  });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', inserted: 250 });
  expect(calls.list).toBe(3);
  const run = await fleet.sync('acme');
  expect(run).toMatchObject({ outcome: 'partial', total_first: 250, total_last: 250, withdrawn: 0 });
  expect(run.reason).toMatch(/^1 game that the listing does not name still exists/);
  // g-0100 is listed again; g-0050 is not, and its detail still exists.
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', withdrawn: 0, note: null });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', withdrawn: 1, note: null });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', withdrawn: 0, note: null });
});

test('an empty page before the end does not end the listing, and what it hid is not withdrawn', async () => {
  let hidden: number | null = null;
  const fleet = await aFleet();
  const ids = idsOf('g', 500);
  await startHostileApplication(fleet, 'acme', {
    list: (pageNum, pageSize) => list(pageNum === hidden ? [] : slice(pageNum, pageSize, ids), ids.length),
    detail,
  });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', inserted: 500 });
  hidden = 3;
  const run = await fleet.sync('acme');
  expect(run).toMatchObject({ outcome: 'partial', listed: 400, unchanged: 400, withdrawn: 0 });
  expect(run.note).toMatch(/page before the last was empty/);
});

test('the same games in another order forever end as suspect', async () => {
  const { run, calls } = await runOf((pageNum) => {
    const turn = pageNum % 100;
    return list([...IDS.slice(turn, 100), ...IDS.slice(0, turn)], 100_000);
  });
  expect(run).toMatchObject({ outcome: 'suspect', inserted: 100 });
  expect(calls.list).toBe(2);
});

test('rows that name no game, page after page, end as suspect', async () => {
  const { run, calls } = await runOf(() => ({ data: { total: 1_000_000, list: Array(100).fill(null) } }));
  expect(run).toMatchObject({ outcome: 'suspect', inserted: 0, invalid: 200 });
  expect(calls.list).toBe(2);
});

test('pages without end are cut at the page cap: what came has landed, nothing is withdrawn', async () => {
  const fleet = await aFleet({ pageCap: 4 });
  const { calls } = await startHostileApplication(fleet, 'acme', {
    list: (pageNum) => list(idsOf('g', 20, pageNum * 20), 1_000_000),
    detail,
  });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'suspect', inserted: 80, withdrawn: 0 });
  expect(calls.list).toBe(4);
});

test('an application that trickles a byte at a time fails at the deadline, others are not delayed', async () => {
  const fleet = await aFleet({ callTimeoutMs: 1_000 });
  const timers = new Set<NodeJS.Timeout>();
  const trickle: Answer = (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 50);
    timers.add(timer);
    response.on('close', () => clearInterval(timer));
  };
  await startHostileApplication(fleet, 'slow', { list: () => trickle, detail });
  await startHostileApplication(fleet, 'slow-details', {
    list: (pageNum, pageSize) => list(slice(pageNum, pageSize), 250),
    detail: () => trickle,
  });
  await startHostileApplication(fleet, 'healthy', {
    list: (pageNum, pageSize) => list(slice(pageNum, pageSize), 250),
    detail,
  });
  const slow = [await fleet.startRun('slow'), await fleet.startRun('slow-details')];
  const healthy = await fleet.sync('healthy');
  expect(healthy).toMatchObject({ outcome: 'succeeded', inserted: 250 });
  const [list1, details1] = await Promise.all(
    slice(
      1,
      2,
      slow.map((run) => run.run_id),
    ).map(fleet.ended),
  );
  expect(list1).toMatchObject({ outcome: 'failed', reason: 'page 1: timeout' });
  expect(details1).toMatchObject({ outcome: 'failed', failed: 100 });
  expect(details1?.reason).toMatch(/^no detail call of page 1 was answered \(timeout \d+\)$/);
});
