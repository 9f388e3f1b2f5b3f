import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { findGame, type GameRow, upsertGames } from '#db/queries/games.ts';
import { compareRevisions } from '#src/review/compare-revisions.ts';
import { diffContent, diffList, diffText, type ListItem, type TextPart } from '#src/rules/diff.ts';
import { toGameContent } from '#src/rules/mapping.ts';
import { aDetail, addApplication, fetchedGame } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { decideGame } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const without = (parts: readonly TextPart[], type: TextPart['type']): string =>
  parts
    .filter((part) => part.type !== type)
    .map(({ text }) => text)
    .join('');
/** As `git diff --word-diff`. */
const marked = (before: string, after: string): string =>
  diffText(before, after)
    .map(({ type, text }) => ({ same: text, removed: `[-${text}-]`, added: `{+${text}+}` })[type])
    .join('');

describe('The difference of two texts', () => {
  it.for([
    ['Bring the boats home.', 'Bring the ships home.', 'Bring the [-boats-]{+ships+} home.'],
    ['Bring the boats home.', 'Bring two red ships home.', 'Bring [-the boats-]{+two red ships+} home.'],
    ['', 'New.', '{+New.+}'],
    ['same', 'same', 'same'],
    ['one two', 'one  two', 'one{+ +} two'],
    ['在雾来之前把小船带回家。', '在雾来之前把大船带回家。', '在雾来之前把[-小船-]{+大船+}带回家。'],
    ['family 👨‍👩‍👧 game', 'family 👨‍👩‍👦 game', 'family [-👨‍👩‍👧-]{+👨‍👩‍👦+} game'],
  ] as const)('marks words, in any script: %s', ([before, after, expected]) => {
    expect(marked(before, after)).toBe(expected);
  });

  it('of long texts never begins or ends within a character of two units', () => {
    const filler = '🎮'.repeat(500);
    const around = (word: string, shift: string) => filler + shift + word.repeat(9_000) + shift + filler;
    for (const shift of ['', 'x']) {
      const parts = diffText(around('boat ', shift), around('ship ', shift));
      expect(parts.filter(({ text }) => !text.isWellFormed())).toEqual([]);
      expect(without(parts, 'added')).toBe(around('boat ', shift));
    }
  });

  it('contains both texts whole, for any texts', () => {
    const words = fc.array(
      fc.oneof(
        fc.constantFrom('a', ' ', '\n', 'boat', '雾', '船', '👨‍👩‍👧', '\u202e', '\ud800'),
        fc.string({ unit: 'binary' }),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(words, words, words, (one, two, three) => {
        const before = [...one, ...two].join('');
        const after = [...one, ...three].join('');
        const parts = diffText(before, after);
        expect(without(parts, 'added')).toBe(before);
        expect(without(parts, 'removed')).toBe(after);
        expect(parts.every(({ text }) => text !== '')).toBe(true);
        if (before === after) expect(parts.every(({ type }) => type === 'same')).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('of 64 Ki characters finds one changed word, and ends when every word differs', () => {
    const text = Array.from({ length: 9_000 }, (_, n) => `word${n}`).join(' ');
    const parts = diffText(text, text.replace('word4500 ', 'other '));
    expect(parts.filter(({ type }) => type !== 'same')).toEqual([
      { type: 'removed', text: 'word4500' },
      { type: 'added', text: 'other' },
    ]);
    const random = (seed: number): string =>
      Array.from({ length: 65_536 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * seed) % 9_973))).join('');
    const [before, after] = [random(7_919), random(104_729)];
    expect(diffText(before, after)).toEqual([
      { type: 'removed', text: before },
      { type: 'added', text: after },
    ]);
  });
});

describe('The difference of two lists of pictures', () => {
  const short = ({ type, value, from, to }: ListItem): string =>
    `${type} ${value} ${from ?? '-'}>${to ?? '-'}`;

  it('names the added, removed and moved ones', () => {
    expect(diffList(['a', 'b', 'c', 'd'], ['d', 'a', 'b', 'e']).map(short)).toEqual([
      'moved d 4>1',
      'same a 1>2',
      'same b 2>3',
      'removed c 3>-',
      'added e ->4',
    ]);
  });

  it('contains both lists whole, with repeated pictures', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const items = diffList(before, after);
        expect(items.filter(({ to }) => to !== null).map(({ value }) => value)).toEqual(after);
        const from = items
          .filter((item) => item.from !== null)
          .sort((a, b) => Number(a.from) - Number(b.from));
        expect(from.map(({ value }) => value)).toEqual(before);
        const left = (type: string): string[] =>
          items.filter((item) => item.type === type).map(({ value }) => value);
        expect(left('removed').filter((value) => left('added').includes(value))).toEqual([]);
        if (items.some(({ type }) => type === 'moved')) expect(before).not.toEqual(after);
      }),
    );
  });
});

describe('The difference of two revisions', () => {
  const database = useTestDatabase();
  beforeAll(() => addApplication(database.sql, 'acme'));
  const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
  const compare = async (game_id: string, range?: Parameters<typeof compareRevisions>[2]) =>
    compareRevisions(database.sql, (await findGame(database.sql, game_id)) as GameRow, range);
  const changedFields = (fields: ReturnType<typeof diffContent>) =>
    fields.filter(({ changed }) => changed).map(({ field }) => field);

  it('is that from the last decided revision, of any two on demand, and all new for a first revision', async () => {
    const { sql } = database;
    const id = randomUUID();
    const write = (minute: number, changes: object) =>
      upsertGames(sql, 'acme', [fetchedGame({ game_id: id, ...changes }, at(minute))]);
    await write(0, {});
    const [row] = await sql<
      { game_id: string }[]
    >`select game_id from games where application_game_id = ${id}`;
    const game_id = row?.game_id ?? '';
    const first = await compare(game_id);
    expect(first).toMatchObject({ from: null, to: 1 });
    expect(changedFields(first.fields)).toHaveLength(5);

    await decideGame(sql, { game_id, audit_status: 'passed' });
    await write(1, { game_name: 'Second' });
    await write(2, {
      game_name: 'Second',
      game_store_pic: ['https://cdn.example/2.png', 'https://cdn.example/1.png'],
    });
    const changed = await compare(game_id);
    expect(changed).toMatchObject({ from: 1, to: 3 });
    expect(changedFields(changed.fields)).toEqual(['game_name', 'game_store_pic']);
    await decideGame(sql, { game_id, revision: 3, audit_status: 'rejected', reason: 'rights' });
    expect(await compare(game_id)).toMatchObject({ from: 1, to: 3 });
    const named = await compare(game_id, { from: 2, to: 3 });
    expect(changedFields(named.fields)).toEqual(['game_store_pic']);
    expect((await findGame(sql, game_id))?.revision).toBe(3);
    await expect(compare(game_id, { from: 9 })).rejects.toThrow('its revisions are 1 to 3');
  });

  it('shows addresses that are signed anew as unchanged, with the address of now', async () => {
    const { sql } = database;
    const id = randomUUID();
    const signed = (file: string, seconds: number) =>
      `https://cdn.example/${file}?AccessKeyId=k&Expires=${seconds}&Signature=s`;
    const write = (minute: number, changes: object = {}) => {
      const pictures = {
        game_icon: [signed('icon.png', minute)],
        game_store_pic: [signed('1.png', minute), signed('2.png', minute)],
        game_store_video: signed('film.mp4', minute),
      };
      return upsertGames(sql, 'acme', [fetchedGame({ game_id: id, ...pictures, ...changes }, at(minute))]);
    };
    await write(1);
    const { game_id } = await oneGame(sql, 'acme', id);
    await decideGame(sql, { game_id, audit_status: 'passed' });
    await write(2, { game_name: 'Second' });
    await write(3, { game_name: 'Second' });
    const { fields } = await compare(game_id);
    expect(changedFields(fields)).toEqual(['game_name']);
    const icons = fields.find(({ field }) => field === 'game_icon');
    expect(icons).toMatchObject({ items: [{ type: 'same', value: signed('icon.png', 3) }] });
    await write(4, {
      game_name: 'Second',
      game_store_pic: [signed('2.png', 4), signed('3.png', 4)],
      game_store_video: signed('other.mp4', 4),
    });
    const later = await compare(game_id, { from: 2 });
    expect(changedFields(later.fields)).toEqual(['game_store_pic', 'game_store_video']);
    expect(later.fields.find(({ field }) => field === 'game_store_pic')).toMatchObject({
      items: [
        { type: 'removed', value: signed('1.png', 2) },
        { type: 'same', value: signed('2.png', 4) },
        { type: 'added', value: signed('3.png', 4) },
      ],
    });
  });

  it('has the five fields in one order', () => {
    const content = toGameContent(aDetail());
    expect(diffContent(content, content).map(({ field, changed }) => `${field} ${changed}`)).toEqual(
      ['game_name', 'game_icon', 'game_desc', 'game_store_pic', 'game_store_video'].map(
        (field) => `${field} false`,
      ),
    );
  });
});
