import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readPage } from '#src/rules/listing.ts';

const row = (game_id: unknown, changes: object = {}) => ({
  game_id,
  game_name: 'Paper Harbour',
  game_icon: '',
  ...changes,
});

it('reads valid rows and leaves out what the document does not name', async () => {
  expect(
    await readPage([row('a', { rating: 5 }), row('b', { game_icon: 'https://cdn.example/b.png' })]),
  ).toStrictEqual({
    summaries: [row('a'), row('b', { game_icon: 'https://cdn.example/b.png' })],
    invalid: [],
    unnamed: [],
  });
});

it.for<[what: string, changes: object, path: string, code: string]>([
  ['name is null', { game_name: null }, 'game_name', 'invalid_type'],
  ['name is missing', { game_name: undefined }, 'game_name', 'invalid_type'],
  ['name is too long', { game_name: 'x'.repeat(513) }, 'game_name', 'too_long'],
  ['name contains U+0000', { game_name: 'a\u0000b' }, 'game_name', 'not_storable'],
  ['name contains a lone surrogate', { game_name: 'a\ud800b' }, 'game_name', 'not_storable'],
  ['icon is null', { game_icon: null }, 'game_icon', 'invalid_type'],
  ['icon is a list', { game_icon: [] }, 'game_icon', 'invalid_type'],
  ['icon is a script', { game_icon: 'javascript:alert(1)' }, 'game_icon', 'not_http_url'],
  ['icon lacks its slashes', { game_icon: 'https:cdn.example/i.png' }, 'game_icon', 'not_http_url'],
  ['icon has no host', { game_icon: 'https:///i.png' }, 'game_icon', 'not_http_url'],
  ['icon begins with a blank', { game_icon: ' https://cdn.example/i.png' }, 'game_icon', 'not_http_url'],
  ['icon is of two lines', { game_icon: 'https://cdn.example/\ni.png' }, 'game_icon', 'not_http_url'],
])(
  'refuses one row whose %s, with the path and a code, and keeps the others',
  async ([, changes, path, code]) => {
    const { summaries, invalid, unnamed } = await readPage([row('good'), row('bad', changes), row('better')]);
    expect(summaries.map(({ game_id }) => game_id)).toEqual(['good', 'better']);
    expect(invalid).toEqual([{ application_game_id: 'bad', reasons: [{ path, code }] }]);
    expect(unnamed).toEqual([]);
  },
);

it.for<[what: string, row: unknown, path: string, code: string]>([
  ['null', null, 'list.1', 'invalid_type'],
  ['a text', 'g-1', 'list.1', 'invalid_type'],
  ['a number', 7, 'list.1', 'invalid_type'],
  ['a list', ['g-1'], 'list.1', 'invalid_type'],
  ['an object without game_id', { game_name: 'x', game_icon: '' }, 'list.1.game_id', 'invalid_type'],
  ['an object with an empty game_id', row(''), 'list.1.game_id', 'too_small'],
  ['an object with a number for game_id', row(7), 'list.1.game_id', 'invalid_type'],
  ['an object whose game_id can not be stored', row('g\u0000'), 'list.1.game_id', 'not_storable'],
])(
  'counts a row that is %s as one that names no game, by its place on the page',
  async ([, bad, path, code]) => {
    const { summaries, invalid, unnamed } = await readPage([row('good'), bad]);
    expect(summaries).toHaveLength(1);
    expect(invalid).toEqual([]);
    expect(unnamed).toEqual([{ reasons: [{ path, code }] }]);
  },
);

it('never repeats a value in a reason', async () => {
  const secret = 'do-not-repeat-me';
  const page = await readPage([
    row('a', { game_name: [secret] }),
    row('b', { game_icon: secret }),
    secret,
    [secret],
  ]);
  expect(JSON.stringify([page.invalid, page.unnamed])).not.toContain(secret);
});

it('counts a game named twice once, as its first valid row says', async () => {
  const first = row('a', { game_name: 'First' });
  const page = await readPage([row('a', { game_name: 9 }), first, row('a', { game_name: 'Second' })]);
  expect(page).toStrictEqual({ summaries: [first], invalid: [], unnamed: [] });
});

it('reads names of objects’ own machinery like any other', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  expect((await readPage(names.map((name) => row(name)))).summaries.map(({ game_id }) => game_id)).toEqual(
    names,
  );
});

it('reads the next row when the pause before it ends', async () => {
  const ends: (() => void)[] = [];
  const pause = () => new Promise<void>((end) => ends.push(end));
  const read = readPage([row('a'), row('b')], () => true, pause);
  for (const pauses of [1, 2]) {
    await setImmediate();
    expect(ends).toHaveLength(pauses);
    ends[pauses - 1]?.();
  }
  expect((await read).summaries).toHaveLength(2);
});
