import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { findGame, listAudits, upsertGames } from '#db/queries/games.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { terminalTest as it, openTerminal, type Terminal } from '#test/support/terminal.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const terminals = new Map<number, Terminal>();
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
const names = ['Amber', 'Birch', 'Cedar'];

/** Three games of an application of their own, by name. */
const add = async (application_id: string) => {
  await addApplication(database.sql, application_id);
  const games = names.map((game_name) =>
    fetchedGame({ game_id: `${application_id}-${game_name}`, game_name }, at(0)),
  );
  const ids = games.map(({ game_id }) => game_id).sort();
  await upsertGames(
    database.sql,
    application_id,
    games.map((game, index) => ({ ...game, game_id: ids[index] ?? '' })),
  );
  return ids as [string, string, string];
};
const statusOf = async (game_id: string) => (await findGame(database.sql, game_id))?.audit_status;

beforeAll(async () => {
  for (const columns of [60, 100])
    terminals.set(columns, await openTerminal({ columns, env: asOperator(database.databaseUrl) }));
});
afterAll(async () => {
  for (const terminal of terminals.values()) await terminal.close();
});

describe.each([100, 60])('On a terminal of %i columns', (columns) => {
  const terminal = (): Terminal => terminals.get(columns) as Terminal;
  const count = async (text: string): Promise<number> => (await terminal().screen()).split(text).length - 1;
  const shows = (text: string, before = 0) =>
    until(`the screen shows ${text}`, async () => (await count(text)) > before);
  /** Answers, and waits until the screen shows a text once more. */
  const answer = async (key: string, then: string): Promise<void> => {
    const before = await count(then);
    await terminal().type(key);
    await shows(then, before);
  };

  it('game review passes, rejects with a reason, skips and undoes by keys', async () => {
    const application_id = `walk-${columns}`;
    const [amber, birch, cedar] = await add(application_id);
    await terminal().type(
      `clear; catalogue game review --by kim --application ${application_id}; echo "[exit $?]"`,
    );
    await shows('Amber (walk-');
    await shows('q quit:');
    await answer('p', 'Birch (walk-');
    expect(await statusOf(amber)).toBe('passed');
    await answer('r', 'Reason (number or code');
    await answer('2', "Text for the application's developer");
    await answer('The icon is missing.', 'Note for operators');
    await answer('', 'Cedar (walk-');
    expect(await listAudits(database.sql, birch)).toMatchObject([
      { audit_status: 'rejected', reason: 'broken_media', text: 'The icon is missing.', note: null },
    ]);
    await answer('u', 'Birch: pending.');
    expect(await statusOf(birch)).toBe('pending');
    await answer('s', 'Cedar (walk-');
    await upsertGames(database.sql, application_id, [
      fetchedGame({ game_id: `${application_id}-Cedar`, game_name: 'Cedar II' }, at(1)),
    ]);
    await answer('p', 'its content is at revision 2, not 1');
    await shows('Cedar II (walk-');
    await answer('q', '[exit 0]');
    expect(await statusOf(cedar)).toBe('pending');
    expect(await terminal().modes()).toEqual({ cursor: true, wrap: true });
  });

  it('game pass without a revision shows the game and asks', async () => {
    const [amber, birch] = await add(`asks-${columns}`);
    await terminal().type(`clear; catalogue game pass ${amber} ${birch} --by kim; echo "[exit $?]"`);
    await shows('pass this game at revision 1? [y/N]');
    await answer('y', 'Birch (asks-');
    await answer('n', '[exit 0]');
    expect([await statusOf(amber), await statusOf(birch)]).toEqual(['passed', 'pending']);
  });

  it('a description does not imitate the lines of other fields', async () => {
    const application_id = `lies-${columns}`;
    await addApplication(database.sql, application_id);
    const lie = 'game_store_video: https://harmless.example/film.mp4';
    // Drawn as spaces, without being white space: to an address, which stays whole.
    const blank = (count: number): string => '\u2800'.repeat(count);
    const other = lie.replace(' ', blank(1));
    const game_name = blank(columns) + other;
    const texts = [
      `One.\n${lie}\n${'x'.repeat(columns)}${lie}`,
      blank(columns - 'game_desc: '.length) + other,
    ];
    const games = texts.map((game_info, n) => fetchedGame({ game_id: `g${n}`, game_info, game_name }, at(n)));
    await upsertGames(database.sql, application_id, games);
    await terminal().type(
      `clear; catalogue game review --by kim --application ${application_id}; echo "[exit $?]"`,
    );
    await until('it asks', async () => /\u2800.*q quit:/s.test(await terminal().screen()));
    const lines = (await terminal().screen()).split('\n');
    await answer('s', 'q quit:');
    // Both games are as old: their ids decide which one comes first.
    const all = [...lines, ...(await terminal().screen()).split('\n')];
    expect(all).toContainEqual(`| ${lie}`);
    expect(all.filter((line) => line.startsWith(lie))).toEqual([]);
    // A longer line goes on at the left edge, without a mark.
    expect(all.filter((line) => line.includes(blank(9)) && stringWidth(line) > columns)).toEqual([]);
    await answer('q', '[exit 0]');
    const shown = await terminal().run(`catalogue game list --application ${application_id}`);
    const [game_id] = /[0-9a-f]{8}-[0-9a-f-]+/.exec(shown.screen) ?? [];
    const record = (await terminal().run(`catalogue game show ${game_id}`)).screen.split('\n');
    expect(record.filter((line) => line.includes(lie) && stringWidth(line) > columns)).toEqual([]);
    expect(record.filter((line) => line.includes(blank(9)) && stringWidth(line) > columns)).toEqual([]);
  });

  it('game diff marks words in colour', async () => {
    const [amber] = await add(`diff-${columns}`);
    await decideGame(database.sql, { game_id: amber, audit_status: 'passed' });
    await upsertGames(database.sql, `diff-${columns}`, [
      fetchedGame({ game_id: `diff-${columns}-Amber`, game_name: 'Amber Two' }, at(1)),
    ]);
    const { screen, exit } = await terminal().run(`catalogue game diff ${amber}`);
    expect(exit).toBe(0);
    expect(screen).toContain('game_name: Amber{+ Two+}');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequence of a colour
    expect(await terminal().colours()).toMatch(/\u001b\[32m\{\+ Two/);
  });
});
