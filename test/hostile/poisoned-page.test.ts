import { describe, expect, test } from 'vitest';
import { exitCodeOfRuns } from '#src/cli/commands/runs.ts';
import { DETAIL_POISONS, NAMED_ROW_POISONS, namedRow, UNNAMED_ROWS } from '#test/hostile/poisons.ts';
import {
  aFleet,
  type Behaviour,
  goodDetail,
  goodRow,
  idsOf,
  quarantined,
  raw,
  startHostileApplication,
  success,
  wellBehaved,
} from '#test/support/hostile-application.ts';

const GOOD = idsOf('good', 75);
const poisons = Object.keys(DETAIL_POISONS);
const badRows = Object.keys(NAMED_ROW_POISONS);

/** Good games and every poison in turn, as an application mixes them. */
const rows = (): unknown[] => {
  const mixed: unknown[] = [...GOOD, ...poisons, 'no-data'].map(goodRow);
  [...badRows.map(namedRow), ...UNNAMED_ROWS].forEach((row, index) => {
    mixed.splice(index * 7, 0, row);
  });
  return mixed;
};

const poisoned: Behaviour = {
  list: (pageNum) => ({ data: { total: rows().length, list: pageNum === 1 ? rows() : [] } }),
  detail: (gameId) => {
    const poison = DETAIL_POISONS[gameId];
    if (poison !== undefined) return poison.answer(gameId);
    if (gameId === 'no-data') return { data: null };
    // A valid envelope counts with any status.
    return gameId.endsWith('3') ? raw(success(goodDetail(gameId)), 500) : { data: goodDetail(gameId) };
  },
};

describe('one page with every poison', () => {
  test('75 good games land, each poison has its own reason, and the run is partial', async () => {
    const fleet = await aFleet();
    const application = await startHostileApplication(fleet, 'acme', poisoned);
    const run = await fleet.sync('acme');

    const landed = await fleet.sql<{ id: string }[]>`select application_game_id as id from games order by 1`;
    expect(landed.map(({ id }) => id)).toEqual(GOOD);
    expect(await quarantined(fleet, 'acme')).toEqual({
      ...Object.fromEntries(poisons.map((id) => [`detail ${id}`, DETAIL_POISONS[id]?.why])),
      ...Object.fromEntries(
        badRows.map((id) => [`list ${id}`, `invalid_item (${NAMED_ROW_POISONS[id]?.why})`]),
      ),
      'detail no-data': 'no_detail (data: null)',
      'list ': expect.stringMatching(/^invalid_item \(list\.\d+: invalid_type, /),
    });
    expect(run).toMatchObject({ outcome: 'partial', inserted: 75, missing: 1 });
    const { listed, inserted, updated, unchanged, invalid, failed, missing } = run;
    expect(inserted + updated + unchanged + invalid + failed + missing).toBe(listed);
    expect(invalid + failed).toBe(poisons.length + badRows.length + UNNAMED_ROWS.length);
    expect(exitCodeOfRuns([run], false)).toBe(3);

    // The application is mended: what landed is forgotten, and nothing is left.
    application.behaviour = wellBehaved([...GOOD, ...poisons, ...badRows]);
    expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', invalid: 0, failed: 0 });
    expect(await quarantined(fleet, 'acme')).toEqual({});
  });
});

test('the worst games of a page, called one at a time, do not stand in the way of the others', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 40);
  const broken = new Set(ids.slice(0, 2));
  const behaviour: Behaviour = {
    ...wellBehaved(ids),
    detail: (id) => (broken.has(id) ? raw('oh no', 502) : { data: goodDetail(id) }),
  };
  await startHostileApplication(fleet, 'acme', behaviour, { concurrency: 1 });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', inserted: 38, failed: 2 });
});

test('games without a call, because all calls before them failed, are named too', async () => {
  const fleet = await aFleet();
  const ids = idsOf('g', 50);
  let answers = 10;
  const behaviour: Behaviour = {
    ...wellBehaved(ids),
    detail: (id) => {
      answers -= 1;
      return answers < 0 ? raw('down', 503) : { data: goodDetail(id) };
    },
  };
  const { calls } = await startHostileApplication(fleet, 'acme', behaviour, { concurrency: 4 });
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'partial', inserted: 10, failed: 40 });
  const kinds = Object.values(await quarantined(fleet, 'acme'));
  expect(kinds).toHaveLength(40);
  expect(new Set(kinds)).toEqual(new Set(['http_status (http_status 503)', 'not_requested (not_requested)']));
  expect(calls.detail).toBeLessThanOrEqual(10 + 4 * (4 + 3));
});
