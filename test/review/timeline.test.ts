import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { listAudits, upsertGames } from '#db/queries/games.ts';
import { formatUtc } from '#src/lib/utc.ts';
import { pauseApplication } from '#src/operations/applications.ts';
import { holdApplication } from '#src/operations/holds.ts';
import { operate } from '#src/operations/operate.ts';
import { removeApplication } from '#src/operations/remove-application.ts';
import { forApplication, readTimeline } from '#src/review/timeline.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGame, KIM as OPERATOR, testPlatform, undoGameDecisions } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
beforeAll(() => addApplication(database.sql, 'acme'));

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
const write = (id: string, minute: number, changes: object = {}) =>
  upsertGames(database.sql, 'acme', [fetchedGame({ game_id: id, ...changes }, at(minute))]);
const add = async () => {
  const game = fetchedGame({ game_id: randomUUID() }, at(0));
  await upsertGames(database.sql, 'acme', [game]);
  return { game_id: game.game_id, id: game.application_game_id };
};
const read = (id: string, application_id = 'acme') => readTimeline(database.sql, application_id, id);
const kindsOf = ({ entries }: Awaited<ReturnType<typeof read>>) => entries.map(({ kind }) => kind);

describe('The first line answers why a game', () => {
  it('waits: its lane, its place and the median wait', async () => {
    await add();
    const { id } = await add();
    const { answer, waiting, entries } = await read(id);
    expect(answer).toMatchObject({ code: 'waiting', at: waiting?.since });
    expect(answer.text).toMatch(
      /^The game is not live: it waits for its first decision\. It is number \d+ of \d+ new games that wait for review on the platform\.$/,
    );
    expect(entries.map(({ text }) => text)).toEqual([
      'First received, as Lantern Harbour.',
      expect.stringMatching(/^Waits for review: number \d+ of \d+ new games\.$/),
    ]);
  });

  it('waits again: what was decided before it changed', async () => {
    const { game_id, id } = await add();
    await decideGame(database.sql, { game_id, audit_status: 'passed' });
    await write(id, 1, { game_name: 'Renamed' });
    const timeline = await read(id);
    expect(timeline.answer.text).toMatch(
      /^The game is not live: it was passed at revision 1, has changed since, and waits for a decision\. It is the only changed game that waits for review on the platform\. Half of the latest decisions took less than 1 minute\.$/,
    );
    expect(kindsOf(timeline).toSorted()).toEqual(['passed', 'received', 'received', 'waiting']);
  });

  it('waits again because its application is held: no picture is blamed', async () => {
    await addApplication(database.sql, 'held');
    const game = fetchedGame({ game_id: randomUUID() }, at(0));
    await upsertGames(database.sql, 'held', [game]);
    await decideGame(database.sql, { game_id: game.game_id, audit_status: 'passed' });
    await operate(
      holdApplication,
      { application_id: 'held', reason: 'a test' },
      OPERATOR,
      testPlatform(database.sql),
    );
    const { answer } = await read(game.application_game_id, 'held');
    expect(answer).toMatchObject({
      code: 'waiting',
      text: 'The game is not live: the platform holds the games of the application. It was passed at revision 1.',
    });
  });

  it('is rejected: the reason and the public text, and not the note to its developer', async () => {
    const { game_id, id } = await add();
    const texts = { text: 'The third picture does not load', note: 'third time' };
    await decideGame(database.sql, { game_id, audit_status: 'rejected', reason: 'broken_media', ...texts });
    const timeline = await read(id);
    expect(timeline.answer).toMatchObject({
      code: 'rejected',
      text: 'The game was rejected: An icon, a picture or the video does not load. The third picture does not load. It returns to review when its content changes.',
    });
    expect(timeline.entries.find(({ kind }) => kind === 'rejected')).toMatchObject({
      by: 'kim',
      note: 'third time',
    });
    const shown = forApplication(timeline);
    expect(JSON.stringify(shown)).not.toMatch(/third time|kim/);
    const { rejection, ...rest } = shown;
    expect(rejection).toEqual({
      reason_label: 'An icon, a picture or the video does not load',
      text: 'The third picture does not load',
      decided_at: expect.any(Date),
    });
    expect(JSON.stringify(rest).match(/The third picture does not load/g)).toHaveLength(1);
    expect(shown.entries.find(({ kind }) => kind === 'rejected')?.text).toBe('Rejected at revision 1.');
  });

  it('is rejected and appealed: when another reviewer decides, and that the appeal was upheld', async () => {
    const { game_id, id } = await add();
    await decideGame(database.sql, { game_id, audit_status: 'rejected', reason: 'broken_media' });
    const { opened_at } = await insertAppeal(database.sql, { game_id, text: 'They load.' });
    const due = formatUtc(new Date(opened_at.getTime() + 48 * 3_600_000));
    const open = await read(id);
    const rejected = 'The game was rejected: An icon, a picture or the video does not load.';
    expect(open.answer.text).toBe(
      `${rejected} Its developer has appealed: another reviewer decides by ${due}.`,
    );
    expect(open.entries.at(-1)).toMatchObject({
      at: opened_at,
      text: 'The rejection was appealed.',
    });
    const upheld = { outcome: 'upheld', decided_by: 'lee', answer: 'They do not.' } as const;
    await decideAppeal(database.sql, { game_id, ...upheld });
    const decided = await read(id);
    expect(decided.answer.text).toMatch(/ It returns to review when its content changes\.$/);
    expect(kindsOf(decided)).toEqual(['received', 'rejected', 'appealed', 'upheld']);
    expect(JSON.stringify(forApplication(decided))).not.toContain('lee');
  });

  it('is live, that it has no package URL, and that its latest data could not be stored', async () => {
    const { game_id, id } = await add();
    await decideGame(database.sql, { game_id, audit_status: 'passed' });
    expect((await read(id)).answer.text).toBe(
      'The game is live. The platform has set no package URL for it.',
    );
    await database.sql`update games set game_package_url = 'https://cdn.example/g.zip' where game_id = ${game_id}`;
    expect((await read(id)).answer).toMatchObject({ code: 'live', text: 'The game is live.' });
    await recordFailures(database.sql, 'acme', 'query_game_detail', [
      { application_game_id: id, kind: 'invalid_data', reasons: [{ path: 'game_icon.3', code: 'too_long' }] },
    ]);
    expect((await read(id)).answer.text).toBe(
      'The game is live. Its latest data could not be stored. The answer does not match the interface document (game_icon.3 is too long).',
    );
  });

  it('is withdrawn, and tells when it came back', async () => {
    const { game_id, id } = await add();
    await database.sql`update games set withdrawn_at = now() where game_id = ${game_id}`;
    expect((await read(id)).answer.code).toBe('withdrawn');
    await write(id, 1);
    const timeline = await read(id);
    expect(timeline.answer.code).toBe('waiting');
    expect(kindsOf(timeline).toSorted()).toEqual(['received', 'returned', 'waiting', 'withdrawn']);
  });

  it('is withdrawn by a listing while its application is paused, or by the removal of its application', async () => {
    const { sql } = database;
    await addApplication(sql, 'gone');
    await upsertGames(
      sql,
      'gone',
      ['unlisted', 'listed'].map((game_id) => fetchedGame({ game_id }, at(0))),
    );
    await sql`update games set withdrawn_at = now() where application_game_id = 'unlisted'`;
    const withdrawn = 'The game is withdrawn: gone';
    await operate(pauseApplication, { application_id: 'gone' }, OPERATOR, testPlatform(sql));
    expect((await read('unlisted', 'gone')).answer.text).toBe(
      `${withdrawn} no longer lists it. It comes back when its list names it again. The application is paused.`,
    );
    await operate(removeApplication, { application_id: 'gone' }, OPERATOR, testPlatform(sql));
    const timelines = [await read('unlisted', 'gone'), await read('listed', 'gone')];
    expect(timelines.map(({ answer }) => answer.text)).toEqual(
      Array(2).fill(
        `${withdrawn} was removed. It comes back when the application is registered again for its former owner, and its list names it.`,
      ),
    );
    expect(timelines.map(({ entries }) => entries.at(-1)?.text)).toEqual([
      'Withdrawn: the application no longer lists the game.',
      'Withdrawn: the application was removed.',
    ]);
  });
});

it('A timeline is in the order of time, with undone decisions', async () => {
  const { game_id, id } = await add();
  await decideGame(database.sql, { game_id, audit_status: 'passed' });
  const [decision] = await listAudits(database.sql, game_id);
  await undoGameDecisions(database.sql, [decision?.audit_id ?? 0], KIM);
  const { entries } = await read(id);
  expect(entries.map(({ kind }) => kind)).toEqual(['received', 'waiting', 'passed', 'undone']);
  expect(entries.map((entry) => entry.at.getTime())).toEqual(
    entries.map((e) => e.at.getTime()).toSorted((a, b) => a - b),
  );
});

it('game why prints the answer first, then the entries', async () => {
  const { game_id, id } = await add();
  const env = asOperator(database.databaseUrl);
  const { exit, stdout } = await runCli(['game', 'why', 'acme', id], env);
  expect(exit).toBe(0);
  expect(stdout.split('\n')[0]).toContain('The game is not live: it waits for its first decision.');
  const document = documentOf(await runCli(['game', 'why', 'acme', id, '--json'], env));
  expect(document).toMatchObject({
    game_id,
    audit_status: 'pending',
    answer: { code: 'waiting' },
    entries: [{ kind: 'received', revision: 1 }, { kind: 'waiting' }],
  });
  expect((await runCli(['game', 'why', 'acme', 'no-such-game'], env)).exit).toBe(0);
  expect((await runCli(['game', 'why', 'nobody', id], env)).exit).toBe(2);
});
