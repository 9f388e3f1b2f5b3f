import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ListingEnd } from '#src/contract/words.ts';
import { listingEnd } from '#src/rules/listing.ts';

/** Games by id; a row that names none is null. */
type Page = { rows: (string | null)[]; total: number };
type Simulated = { end: ListingEnd; pages: number; named: string[] };

/** List an application to its end, as a run does. */
const list = (answer: (page_num: number) => Page, { pageSize = 100, pageCap = 1_000 } = {}): Simulated => {
  const seen = new Set<string>();
  const named: string[] = [];
  let rowsBefore = 0;
  let largestPageBefore = 0;
  let previous: { rows: number; newlyNamed: number } | null = null;
  for (let page_num = 1; ; page_num += 1) {
    const { rows, total } = answer(page_num);
    const ids = [...new Set(rows.filter((id) => id !== null))];
    const fresh = ids.filter((id) => !seen.has(id));
    const end = listingEnd({
      page_num,
      rows: rows.length,
      rowsBefore,
      named: ids.length,
      newlyNamed: fresh.length,
      total,
      pageSize,
      largestPageBefore,
      previous,
      pageCap,
    });
    for (const id of fresh) seen.add(id);
    named.push(...fresh);
    if (end !== null) return { end, pages: page_num, named };
    rowsBefore += rows.length;
    largestPageBefore = Math.max(largestPageBefore, rows.length);
    previous = { rows: rows.length, newlyNamed: fresh.length };
  }
};

const games = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `g-${from + index}`);

/** An application that does as the document says, with a page limit of its own. */
const honest = (catalogue: readonly string[], limit = 100, total = catalogue.length) => {
  return (page_num: number): Page => ({
    rows: catalogue.slice((page_num - 1) * limit, page_num * limit),
    total,
  });
};

it.for<[games: number, limit: number, pages: number]>([
  [0, 100, 1],
  [1, 100, 2],
  [99, 100, 2],
  [100, 100, 2],
  [250, 100, 3],
  [300, 100, 4],
  [55, 10, 6],
  [60, 10, 7],
  [3, 1, 4],
])('lists %i games of an application with %i a page in %i calls', ([count, limit, pages]) => {
  expect(list(honest(games(count), limit))).toEqual({ end: 'complete', pages, named: games(count) });
});

it('names every game of any honest application once, for any size and page limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 1, max: 100 }), (count, limit) => {
      expect(list(honest(games(count), limit))).toMatchObject({ end: 'complete', named: games(count) });
    }),
  );
});

it('trusts the pages when total lies, too high or too low', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 500 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 1_000 }),
      (count, limit, total) => {
        expect(list(honest(games(count), limit, total))).toMatchObject({
          end: 'complete',
          named: games(count),
        });
      },
    ),
  );
});

it('asks one page further when a page is empty while total says that more remain', () => {
  const hiccup = (page_num: number): Page => {
    const rows =
      page_num === 2 ? [] : games(100, page_num === 1 ? 0 : 100).slice(0, page_num === 3 ? 50 : 100);
    return { rows, total: 150 };
  };
  expect(list(hiccup)).toMatchObject({ end: 'complete', pages: 3, named: games(150) });
});

it('ends at the second empty page in a row', () => {
  expect(list(honest(games(100), 100, 400))).toMatchObject({ end: 'complete', pages: 3 });
});

it('ends at once at an empty page when everything was named', () => {
  expect(list(honest(games(200)))).toMatchObject({ end: 'complete', pages: 3 });
});

it('ends repeated when page_num is ignored', () => {
  expect(list(() => ({ rows: games(100), total: 250 }))).toMatchObject({ end: 'repeated', pages: 2 });
});

it('is complete when the last of full pages answers every further page_num and total is reached', () => {
  const clamped = (page_num: number): Page => honest(games(200))(Math.min(page_num, 2));
  expect(list(clamped)).toMatchObject({ end: 'complete', pages: 3, named: games(200) });
});

it.each([199, 201])(
  'ends repeated when the last page answers every further page_num and total is %i of 200',
  (total) => {
    const clamped = (page_num: number): Page => ({ ...honest(games(200))(Math.min(page_num, 2)), total });
    expect(list(clamped)).toMatchObject({ end: 'repeated', pages: 3, named: games(200) });
  },
);

it('is complete when a small application answers the same short page to every page_num', () => {
  expect(list(() => ({ rows: games(40), total: 40 }))).toMatchObject({ end: 'complete', pages: 2 });
});

it('reads on when a first page claims its own size as the total', () => {
  const own = (page_num: number): Page => {
    const { rows } = honest(games(150), 60)(page_num);
    return { rows, total: rows.length };
  };
  expect(list(own)).toMatchObject({ end: 'complete', named: games(150) });
});

it('goes on over a page that names some games again and some new ones', () => {
  const shifted = (page_num: number): Page => ({
    rows: page_num === 1 ? games(100) : games(50, 95),
    total: 145,
  });
  expect(list(shifted).named).toEqual(games(145));
});

it('goes on over one page without a usable game, and ends repeated at the second in a row', () => {
  const nameless = (page_num: number): Page => ({
    rows: page_num === 1 ? games(100) : Array(100).fill(null),
    total: 900,
  });
  expect(list(nameless)).toMatchObject({ end: 'repeated', pages: 3 });
});

it('goes on over a first page without a usable game', () => {
  const named = (page_num: number): Page => {
    const rows = [Array(100).fill(null), games(100)][page_num - 1] ?? [];
    return { rows, total: 200 };
  };
  expect(list(named)).toMatchObject({ end: 'complete', pages: 3, named: games(100) });
});

it('is always bounded by the page cap', () => {
  const endless = (page_num: number): Page => ({ rows: games(100, page_num * 100), total: 1_000_000_000 });
  expect(list(endless, { pageCap: 7 })).toMatchObject({ end: 'page_cap', pages: 7 });
});

it('does not end at a short page while fewer rows than total are listed', () => {
  const short = (page_num: number): Page => ({
    rows: games(page_num === 2 ? 40 : 100, page_num * 1_000),
    total: 500,
  });
  expect(list((page_num) => (page_num <= 5 ? short(page_num) : { rows: [], total: 500 }))).toMatchObject({
    pages: 7,
    end: 'complete',
  });
});

it('is a repetition when a page repeats before or after the rows reached total', () => {
  const repeating = (total: number) => (page_num: number) => ({
    rows: page_num === 1 ? games(100) : games(60, 100),
    total,
  });
  expect(list(repeating(500))).toMatchObject({ end: 'repeated', pages: 3 });
  expect(list(repeating(130))).toMatchObject({ end: 'repeated', pages: 3 });
  expect(list(repeating(160))).toMatchObject({ end: 'complete', pages: 2 });
});
