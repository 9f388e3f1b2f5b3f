import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { findGame, listAudits, upsertGames } from '#db/queries/games.ts';
import { appealRejection } from '#src/operations/appeals.ts';
import { applicationCaller, operateAsApplication } from '#src/operations/operate.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(() => addApplication(database.sql, 'acme'));

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
const add = async (changes: object = {}) => {
  const game = fetchedGame({ game_id: randomUUID(), ...changes }, at(0));
  await upsertGames(database.sql, 'acme', [game]);
  return game;
};
const change = (game: Awaited<ReturnType<typeof add>>, changes: object, minute = 1) =>
  upsertGames(database.sql, 'acme', [
    fetchedGame({ game_id: game.application_game_id, ...changes }, at(minute)),
  ]);
const catalogue = (args: readonly string[], stdin?: string) =>
  runCli(args, asOperator(database.databaseUrl), stdin);
const statusOf = async (game_id: string) => (await findGame(database.sql, game_id))?.audit_status;

describe('An appealed game', () => {
  const appealed = async () => {
    const { game_id } = await add();
    await decideGame(database.sql, { game_id, audit_status: 'rejected', reason: 'rights', text: 'Whose?' });
    const appeal = { game_id, text: 'The icon is ours.' };
    await operateAsApplication(appealRejection, appeal, applicationCaller('acme'), database.sql);
    return game_id;
  };

  it.for([
    ['Overturn', 'overturn', 'passed'],
    ['Uphold', 'uphold', 'rejected'],
  ] as const)('%s: game show prints the command, with the game as review appeals does', async (each) => {
    const [title, name, status] = each;
    const game_id = await appealed();
    const named = `${game_id}@1`;
    expect((await catalogue(['review', 'appeals'])).stdout).toContain(named);
    const { stdout } = await catalogue(['game', 'show', named]);
    expect(stdout).toContain(`${title}: npx catalogue game ${name} ${named} --by NAME --text TEXT`);
    expect(stdout).not.toContain('Approve:');
    const result = await catalogue(['game', name, named, '--by', 'lee', '--text', 'We looked again.']);
    expect(result).toMatchObject({ exit: 0, stderr: '' });
    expect(await statusOf(game_id)).toBe(status);
    expect((await catalogue(['game', 'thread', named])).stdout).toContain('We looked again.');
  });

  it('is overturned at the revision that was seen, which is named once', async () => {
    const game_id = await appealed();
    const overturn = (...args: string[]) =>
      catalogue(['game', 'overturn', ...args, '--by', 'lee', '--text', 'It is yours.']);
    for (const args of [[game_id], [`${game_id}@1`, '--revision', '2']])
      expect(await overturn(...args)).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('Name the revision once.'),
      });
    expect((await overturn(`${game_id}@2`)).stderr).toMatch(/is at revision 1, not 2/);
    expect((await overturn(game_id, '--revision', '1')).exit).toBe(0);
  });
});

describe('game pass and game reject', () => {
  it('name the revision that was seen: without one they are refused without a terminal to confirm at', async () => {
    const { game_id } = await add();
    const { exit, stderr } = await catalogue(['game', 'pass', game_id, '--by', 'kim']);
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: `catalogue: Name the revision of ${game_id} that you saw: npx catalogue game show ${game_id} prints the command.\n`,
    });
    expect(await statusOf(game_id)).toBe('pending');
    const { stdout } = await catalogue(['game', 'show', game_id]);
    const [, args = ''] = /npx catalogue (game pass .*) NAME/.exec(stdout) ?? [];
    expect(args).toBe(`game pass ${game_id}@1 --by`);
    expect(await catalogue([...args.split(' '), 'kim'])).toMatchObject({ exit: 0, stderr: '' });
    expect(await statusOf(game_id)).toBe('passed');
  });

  it('keep reason, text and note, which game show prints', async () => {
    const { game_id } = await add();
    const result = await catalogue(
      ['game', 'reject', game_id, '--revision', '1', '--by', 'kim', '--reason', 'broken_media'].concat([
        '--text',
        'The icon is missing.',
        '--note',
        'asked twice',
        '--json',
      ]),
    );
    expect(result.exit).toBe(0);
    expect(documentOf(result)).toMatchObject({ game_id, audit_status: 'rejected', revision: 1 });
    const shown = documentOf(await catalogue(['game', 'show', game_id, '--json']));
    expect(shown.audits).toMatchObject([
      { reason: 'broken_media', text: 'The icon is missing.', note: 'asked twice', decided_by: 'kim' },
    ]);
    const wrong = await catalogue(['game', 'reject', `${game_id}@1`, '--by', 'kim', '--reason', 'ugly']);
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toContain('choose one of incomplete, broken_media');
  });

  it('say what the revision is now when the content has moved, and exit with 1', async () => {
    const game = await add();
    await change(game, { game_name: 'Moved' });
    const { exit, stderr } = await catalogue(['game', 'pass', `${game.game_id}@1`, '--by', 'kim']);
    expect(exit).toBe(1);
    expect(stderr).toContain(
      `is at revision 2, not 1: pending. Read it with npx catalogue game show ${game.game_id}`,
    );
  });

  it('do not decide a withdrawn game, and say why', async () => {
    const [one, other] = [await add(), await add()];
    await database.sql`update games set withdrawn_at = now() where game_id = ${one.game_id}`;
    const shown = await catalogue(['game', 'show', one.game_id]);
    expect(shown).toMatchObject({ exit: 0, stdout: expect.not.stringContaining('catalogue game pass') });
    const pass = ['game', 'pass', '--by', 'kim'];
    const alone = await catalogue([...pass, `${one.game_id}@1`]);
    expect(alone).toMatchObject({
      exit: 1,
      stderr: `catalogue: ${one.game_id} is withdrawn: its application no longer lists it, or was removed. Decide when a listing names it again.\n`,
    });
    const both = await catalogue([...pass, `${one.game_id}@1`, `${other.game_id}@1`]);
    expect(both.exit).toBe(3);
    expect(both.stdout).toContain('withdrawn: pending');
    expect(await statusOf(one.game_id)).toBe('pending');
    const json = documentOf(await catalogue([...pass, `${one.game_id}@1`, `${other.game_id}@1`, '--json']));
    expect(json.games).toMatchObject([
      { result: 'withdrawn', audit_status: 'pending' },
      { result: 'unchanged' },
    ]);
  });

  it('decide on many from lines of game list, report which moved, and are undone as a batch', async () => {
    await addApplication(database.sql, 'many');
    const games = Array.from({ length: 5 }, (_, n) => fetchedGame({ game_id: `g-${n}` }, at(0)));
    await upsertGames(database.sql, 'many', games);
    const listed = await catalogue(['game', 'list', '--status', 'pending', '--application', 'many']);
    const [moved, ...others] = games;
    await upsertGames(database.sql, 'many', [fetchedGame({ game_id: 'g-0', game_name: 'Moved' }, at(1))]);
    const passed = await catalogue(['game', 'pass', '--by', 'kim', '--json'], listed.stdout);
    expect(passed.exit).toBe(3);
    const document = documentOf(passed);
    const resultOf = (game_id = '') =>
      document.games.find((game: { game_id: string }) => game.game_id === game_id);
    expect(resultOf(moved?.game_id)).toMatchObject({
      result: 'content_moved',
      revision: 1,
      current_revision: 2,
    });
    for (const { game_id } of others)
      expect(resultOf(game_id)).toMatchObject({ result: 'decided', audit_status: 'passed' });

    const inBatch = await catalogue(['review', 'batch', document.batch_id.slice(0, 23), '--json']);
    expect(documentOf(inBatch).games).toHaveLength(others.length);
    expect(await catalogue(['review', 'batch', moved?.game_id ?? ''])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(`There is no batch "${moved?.game_id}"`),
    });

    const undone = await catalogue(['game', 'undo', document.batch_id, '--by', 'kim']);
    expect(undone).toMatchObject({ exit: 0, stderr: '' });
    for (const { game_id } of others) expect(await statusOf(game_id)).toBe('pending');
  });

  it('say that more games follow when the list on stdin was cut', async () => {
    await addApplication(database.sql, 'cut');
    const games = Array.from({ length: 3 }, (_, n) => fetchedGame({ game_id: `c-${n}` }, at(0)));
    await upsertGames(database.sql, 'cut', games);
    const list = ['game', 'list', '--status', 'pending', '--application', 'cut'];
    const two = await catalogue([...list, '--limit', '2']);
    const cut = await catalogue(['game', 'pass', '--by', 'kim'], two.stdout);
    expect(cut.exit).toBe(0);
    expect(cut.stderr).toMatch(
      /^The input is not the whole list: 2 of 3, next: npx catalogue game list .*\n$/,
    );
    const whole = await catalogue(['game', 'pass', '--by', 'kim'], (await catalogue(list)).stdout);
    expect(whole).toMatchObject({ exit: 0, stderr: '' });
  });

  it('leave what another operator decided since the list, if --seen names the status that it had', async () => {
    const listed = await catalogue(['game', 'list', '--status', 'passed', '--application', 'cut']);
    const [first = ''] = /\b[0-9a-f-]{36}@1\b/.exec(listed.stdout) ?? [];
    expect((await catalogue(['game', 'reject', first, '--by', 'rui', '--reason', 'rights'])).exit).toBe(0);
    const kept = await catalogue(['game', 'pass', '--seen', 'passed', '--by', 'kim'], listed.stdout);
    expect(kept).toMatchObject({ exit: 3, stdout: expect.stringContaining('rejected by rui meanwhile') });
    expect(await statusOf(first.split('@')[0] ?? '')).toBe('rejected');
  });

  it.for([
    ['nothing', '\n# nothing\n', 'No games are given'],
    ['a sentence', 'All of them, please', 'Line 1 of the input begins with "All"'],
    ['a short word', 'game  application  name\n019@1', 'Line 2 of the input begins with "019@1"'],
    ['an id that no game has', 'ffffffff@1', 'There is no game "ffffffff"'],
    ['a long word', 'x'.repeat(5_000), `Line 1 of the input begins with "${'x'.repeat(60)}"`],
    ['two revisions', `${randomUUID()}@1@2`, 'Line 1 of the input begins with'],
  ] as const)('refuse %s on stdin', async ([, stdin, says]) => {
    const { exit, stderr } = await catalogue(['game', 'pass', '--by', 'kim'], stdin);
    expect(exit).toBe(2);
    expect(stderr).toContain(says);
  });
});

describe('game undo', () => {
  it('takes the number of a decision, and says who has decided since', async () => {
    const { game_id } = await add();
    await decideGame(database.sql, { game_id, audit_status: 'passed' });
    await decideGame(database.sql, { game_id, audit_status: 'rejected', reason: 'rights' });
    const [rejected, passed] = await listAudits(database.sql, game_id);
    const first = await catalogue(['game', 'undo', String(passed?.audit_id), '--by', 'lee']);
    expect(first.exit).toBe(1);
    expect(first.stdout).toContain('rejected by kim meanwhile');
    const second = await catalogue(['game', 'undo', String(rejected?.audit_id), '--by', 'lee']);
    expect(second.exit).toBe(0);
    expect(await statusOf(game_id)).toBe('passed');
    expect((await catalogue(['game', 'undo', randomUUID(), '--by', 'lee'])).exit).toBe(2);
  });
});

describe('game diff', () => {
  it('marks words against the last decided revision', async () => {
    const game = await add({ game_info: 'Bring the boats home.\nBefore the fog.' });
    await decideGame(database.sql, { game_id: game.game_id, audit_status: 'passed' });
    await change(game, {
      game_info: 'Bring the ships home.\nBefore the fog.',
      game_store_pic: ['https://cdn.example/2.png', 'https://cdn.example/3.png'],
    });
    const { exit, stdout } = await catalogue(['game', 'diff', game.game_id]);
    expect(exit).toBe(0);
    expect(stdout.split('\n').slice(1)).toEqual([
      'game_desc: Bring the [-boats-]{+ships+} home.',
      '| Before the fog.',
      'game_store_pic:',
      '  1. [-https://cdn.example/1.png-]',
      '  1. https://cdn.example/2.png',
      '  2. {+https://cdn.example/3.png+}',
      '',
    ]);
    const document = documentOf(await catalogue(['game', 'diff', game.game_id, '--from', '2', '--json']));
    expect(document).toMatchObject({ from: 2, to: 2 });
  });
});
