// What every list promises to the fronts that render it.
import { beforeAll, describe, expect, test } from 'vitest';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { controlsOf } from '#src/lists/filters.ts';
import { LISTS } from '#src/lists/index.ts';
import { toDocument } from '#src/lists/list.ts';
import { readList, type Sources } from '#src/lists/read.ts';
import { type Filters, fillLists } from '#test/lists/world.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { readPages } from '#test/support/lists.ts';

const fleet = useTestFleet(fleetBackend());
let sources: Sources;
let filters: Filters;

beforeAll(async () => {
  // A payload that does not parse fails at the first attempt.
  const worker = await fleet.startWorker();
  const { id } = await fleet.producer.queue(pullGameDetail).add('broken', {});
  await fleet.jobEnded(pullGameDetail, id);
  await worker.stop(5_000);
  filters = await fillLists(fleet.sql);
  sources = { sql: fleet.sql, producer: async () => fleet.producer };
});

/** What the values of a column are. */
const TYPES = {
  text: 'string',
  id: 'string',
  word: 'string',
  status: 'string',
  number: 'number',
  duration: 'number',
  time: 'object',
  age: 'object',
};

/** Fields of the command line alone: they are of KYC records. */
const WITHHELD: Record<string, string[]> = {
  'kyc.list': ['application_cp_id', 'record_cp_id', 'refused_cp_id'],
};

describe.each(LISTS.map((list) => [list.name, list] as const))('the list %s', (name, list) => {
  const filtersOf = () => filters[name] ?? [{}];
  const [all, one] = [{ limit: 1_000 }, { limit: 1 }];
  const read = (request: object) => readList(list, sources, filtersOf()[0] ?? {}, { ...one, ...request });

  test('has a control for each filter, and each column and sort once', () => {
    const controls = controlsOf(list.filter);
    for (const [, { title, description }] of controls) expect([title, description]).not.toContain('');
    const names = controls.map(([, control]) => control.name);
    expect(new Set(names).size).toBe(names.length);
    expect(controls.filter(([, { isArgument }]) => isArgument).length).toBeLessThanOrEqual(1);
    const keys = list.columns.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const { sort } of list.columns) if (sort !== undefined) expect(list.sorts).toContain(sort);
    if (list.sorts.length > 0) expect(list.sorts).toContain(list.order.replace(/^-/, ''));
    for (const front of ['terminal', 'page'] as const)
      expect(list.columns.some(({ on = front }) => on === front)).toBe(true);
  });

  test('has a value in each column', async () => {
    const pages = await Promise.all(filtersOf().map((filter) => readList(list, sources, filter, all)));
    const rows = pages.flatMap((page) => page.rows);
    expect(rows.length).toBeGreaterThan(1);
    for (const column of list.columns) {
      const values = rows.map((row) => column.value(row)).filter((value) => value !== null && value !== '');
      const types = new Set(values.map((value) => typeof value));
      expect([...types], column.key).toEqual([TYPES[column.kind]]);
    }
  });

  test('reads the same rows page by page as at once, by each sort in both directions', async () => {
    const orders = list.sorts.length === 0 ? [list.order] : list.sorts.flatMap((sort) => [sort, `-${sort}`]);
    const asText = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row));
    for (const filter of filtersOf()) {
      const { rows } = await readList(list, sources, filter, all);
      const wanted = asText(rows).toSorted();
      const readBy = async (sort: string) =>
        asText(await readPages(sources, list, filter, { sort, limit: Math.ceil(rows.length / 5) }));
      for (const sort of orders) {
        const inOrder = await readBy(sort);
        expect(inOrder.toSorted(), sort).toEqual(wanted);
        if (orders.includes(`-${sort}`)) expect(await readBy(`-${sort}`), sort).toEqual(inOrder.toReversed());
      }
    }
  });

  test('names each field of its JSON document, but those that the operator API withholds', async () => {
    const named = [...Object.keys(list.row.shape), ...(WITHHELD[name] ?? [])];
    for (const filter of filtersOf()) {
      const { rows } = await readList(list, sources, filter, all);
      for (const each of rows)
        expect(named).toEqual(expect.arrayContaining(Object.keys(toDocument(list, each))));
    }
  });

  test('counts its rows, and has the cursor of the next page', async () => {
    const { rows } = await read(all);
    const first = await read({});
    // Groups are not counted.
    expect(first.total).toBe(name === 'failure.groups' ? null : rows.length);
    expect(first.rows).toEqual(rows.slice(0, 1));
    expect(first.cursor).toBeDefined();
  });

  test('refuses another sort, and a cursor that it did not make', async () => {
    await expect(read({ sort: 'nonsense' })).rejects.toThrow(/^(Sort by|The order of this list is fixed)/);
    for (const cursor of ['nonsense', `${list.order},%`, `${list.order}`])
      await expect(read({ cursor })).rejects.toThrow('Give a cursor as the list gave it.');
    const other = list.order.startsWith('-') ? list.order.slice(1) : `-${list.order}`;
    await expect(read({ cursor: `${other},1` })).rejects.toThrow(
      'The cursor belongs to a list in another order',
    );
  });
});
