import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { upsertGames } from '#db/queries/games.ts';
import { insertMessage } from '#db/queries/threads.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { importGames } from '#src/operations/imports.ts';
import { operate } from '#src/operations/operate.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { identifyPins } from '#src/pictures/identify-pins.ts';
import { pictureId } from '#src/rules/pictures.ts';
import { type CliResult, runCli, startCli } from '#test/support/cli.ts';
import { addApplication, DEFAULT_RULE, fetchedGame, KIM } from '#test/support/factories.ts';
import { useTestFleet } from '#test/support/fleet.ts';
import {
  decideGame,
  operatorCaller,
  setPackageUrls,
  testPlatform,
  undoGameDecisions,
} from '#test/support/operate.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { asOperator } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';

const fleet = useTestFleet('postgres', 1);
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalogue-import-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const CONTENT = {
  game_name: 'Lantern Harbour',
  game_icon: ['https://cdn.example/icon.png?t=1'],
  game_desc: 'Two lines,\nand "quotes", =1+1, \u2028 and \u202e.',
  game_store_pic: ['https://cdn.example/1.png'],
  game_store_video: '',
};
const DECIDED = { audit_status: 'passed', audit_time: '2024-02-29T23:59:59.123Z', decided_by: 'zoë' };

const fileOf = async (lines: readonly (object | string)[]): Promise<string> => {
  const path = join(directory, `${randomUUID()}.ndjson`);
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  await writeFile(path, `${text}\n`);
  return path;
};
const run = (args: string[], databaseUrl = fleet.databaseUrl): Promise<CliResult> =>
  runCli(args, asOperator(databaseUrl));
const importArgs = (application: string, file: string, ...others: string[]) => [
  ...['game', 'import', '--application', application, '--file', file, '--by', 'kim'],
  ...others,
];
const importLines = async (application: string, lines: readonly (object | string)[], ...others: string[]) =>
  run(importArgs(application, await fileOf(lines), ...others));
const statuses = async (application_id: string) => {
  const rows = await fleet.sql<{ status: string; games: number }[]>`
    select audit_status as status, count(*)::int as games from games
    where application_id = ${application_id} and withdrawn_at is null group by 1`;
  return Object.fromEntries(rows.map(({ status, games }) => [status, games]));
};

it('export, import into an empty database, export: equal bytes', async () => {
  const { sql } = fleet;
  await addApplication(sql, 'taken');
  const games = Array.from({ length: 40 }, (_, n) =>
    fetchedGame({ game_id: `g-${n} =\u202e,"`, game_info: CONTENT.game_desc, game_name: `游戏 ${n}` }),
  );
  await upsertGames(sql, 'taken', games);
  const [first, second, third, fourth] = games.map(({ game_id }) => game_id);
  for (const { game_id } of games.slice(0, 20)) await decideGame(sql, { game_id, audit_status: 'passed' });
  const rejection = { audit_status: 'rejected', reason: 'rights', text: 'No.\nNever.' } as const;
  await decideGame(sql, { game_id: second ?? '', ...rejection });
  await decideGame(sql, { game_id: third ?? '', ...rejection });
  const [last] = await sql<{ audit_id: number }[]>`
    select max(audit_id) as audit_id from game_audits where game_id = ${third ?? ''}`;
  await undoGameDecisions(sql, [last?.audit_id ?? 0], KIM);
  await setPackageUrls(sql, [{ game_id: first ?? '', game_package_url: 'https://cdn.example/a.zip' }], KIM);
  await sql`update games set withdrawn_at = now() where game_id = ${fourth ?? ''}`;
  const waiting = { application_game_id: 'waits', game_package_url: 'https://cdn.example/b.zip', ...DECIDED };
  expect((await importLines('taken', [waiting])).exit).toBe(0);

  const exported = await run(['game', 'export', '--application', 'taken']);
  expect(exported.stdout.trim().split('\n')).toHaveLength(41);
  const empty = await createTestDatabase();
  const other = openDatabase(empty.databaseUrl, { max: 2, applicationName: 'import test' });
  try {
    await addApplication(other, 'taken');
    const file = await fileOf([exported.stdout.trimEnd()]);
    const imported = await run(importArgs('taken', file), empty.databaseUrl);
    expect(imported.stdout).toBe(
      '41 imported: 20 decided, 1 wait for their first pull. 0 were stored already.\n',
    );
    expect((await run(['game', 'export'], empty.databaseUrl)).stdout).toBe(exported.stdout);
    const rejected = await run(['game', 'export', '--status', 'rejected'], empty.databaseUrl);
    expect(rejected.stdout.trim().split('\n')).toHaveLength(1);
  } finally {
    await other.end();
    await empty.drop();
  }
});

it('the first pull leaves decided games with equal content decided; differing content is in the changed lane', async () => {
  const { server } = await fleet.addApplication('adopted', 30);
  const all = server.games.all();
  const lineOf = ({ game_id, game_info, ...content }: (typeof all)[number]) => ({
    application_game_id: game_id,
    ...content,
    game_desc: game_info,
  });
  const ours = Array.from({ length: 30 }, () => randomUUIDv7());
  const lines = all.map((detail, n) => {
    const { application_game_id, ...content } = lineOf(detail);
    if (n < 12) return { application_game_id, game_id: ours[n], ...content, ...DECIDED };
    if (n < 16) return { application_game_id, ...content, ...DECIDED, game_desc: 'Formerly.' };
    // Without content.
    if (n < 24)
      return {
        application_game_id,
        game_id: ours[n],
        ...DECIDED,
        audit_status: 'rejected',
        reason: 'rights',
        text: 'No.',
      };
    if (n < 26) return { application_game_id, game_id: ours[n], ...DECIDED };
    return { application_game_id, ...content, audit_status: 'pending' };
  });
  const result = await importLines('adopted', lines);
  expect(result.stdout).toContain('30 imported: 16 decided, 10 wait for their first pull.');
  expect(await statuses('adopted')).toEqual({ passed: 16, pending: 4 });

  const synced = await fleet.sync('adopted');
  expect(synced.outcome).toBe('succeeded');
  expect(await statuses('adopted')).toEqual({ passed: 14, rejected: 8, pending: 8 });
  const changed = await fleet.sql<{ application_game_id: string; decided_revision: number }[]>`
    select application_game_id, decided_revision from changed_games join games using (game_id)
    where changed_games.application_id = 'adopted' order by application_game_id`;
  expect(changed).toEqual(
    all
      .slice(12, 16)
      .map(({ game_id }) => ({ application_game_id: game_id, decided_revision: 1 }))
      .toSorted((a, b) => (a.application_game_id < b.application_game_id ? -1 : 1)),
  );
  const [{ game_id: differs = '' } = {}] = await fleet.sql<{ game_id: string }[]>`
    select game_id from changed_games where application_id = 'adopted' limit 1`;
  expect((await run(['game', 'diff', differs])).stdout).toContain('Formerly');
  // The ids of the other catalogue are those of the platform.
  for (const [n, { game_id }] of [...all.entries()].slice(0, 26)) {
    const stored = await findApplicationGame(fleet.sql, 'adopted', game_id);
    if (n < 12 || n >= 16) expect(stored?.game_id).toBe(ours[n]);
  }
  // What waited has its decision on the content that was pulled, with its pictures as soon as they are identified.
  const waited = ours[24] ?? '';
  const [decision] = await fleet.sql`
    select revision, audit_status, decided_by, decided_at from game_audits where game_id = ${waited}`;
  expect(decision).toEqual({
    revision: 1,
    audit_status: 'passed',
    decided_by: 'zoë',
    decided_at: new Date(DECIDED.audit_time),
  });
  await identifyPins(fleet.sql, new AbortController().signal);
  const pins = await fleet.sql<{ picture_id: string }[]>`
    select picture_id from picture_pins join game_audits using (audit_id) where game_id = ${waited}`;
  const urls = [...(all[24]?.game_icon ?? []), ...(all[24]?.game_store_pic ?? [])];
  expect(pins.map((pin) => pin.picture_id).toSorted()).toEqual(
    urls.map((url) => pictureId('adopted', url, DEFAULT_RULE)).toSorted(),
  );
  const [left] =
    await fleet.sql`select count(*)::int as waiting from imported_games where application_id = 'adopted'`;
  expect(left).toEqual({ waiting: 0 });
  expect((await fleet.sync('adopted')).updated).toBe(0);
});

it('a file with wrong lines changes nothing and names each line and field', async () => {
  await addApplication(fleet.sql, 'strict');
  await addApplication(fleet.sql, 'other');
  const taken = fetchedGame({ game_id: 'theirs' });
  await upsertGames(fleet.sql, 'other', [taken]);
  const id = randomUUIDv7();
  const game = (application_game_id: string, more: object = {}) => ({
    application_game_id,
    ...CONTENT,
    audit_status: 'pending',
    ...more,
  });
  const file = await fileOf([
    game('right'),
    'not JSON',
    game('2', { audit_status: 'approved' }),
    game('3', { game_desc: undefined }),
    game('4', { audit_status: 'passed' }),
    game('5', { audit_time: DECIDED.audit_time }),
    game('right'),
    game('7', { game_id: id }),
    game('8', { game_id: id.toUpperCase() }),
    game('9', { ...DECIDED, audit_status: 'rejected', reason: 'nonsense' }),
    game('10', { game_id: taken.game_id }),
    game('11', { game_icon: ['javascript:alert(1)'] }),
    game('12', { nonsense: 1 }),
    game('13', { application_id: 'other' }),
    game('14', { ...DECIDED, audit_time: '2999-01-01T00:00:00Z' }),
    game('15', { game_name: '\ud800' }),
    game('16', { ...DECIDED, reason: 'rights' }),
  ]);
  const { exit, stderr } = await run(importArgs('strict', file));
  expect(exit).toBe(2);
  expect(stderr).toMatch(/^catalogue: .* was not imported, nothing was changed\.\n/);
  const said = stderr.split('\n').filter((line) => line.startsWith('line '));
  expect(said).toEqual([
    'line 2: is not JSON',
    expect.stringMatching(/^line 3: audit_status /),
    'line 4: game_desc is missing: give the whole content, or none',
    'line 5: audit_time is missing: when was it decided?',
    'line 6: audit_time is of a decided game, not of a pending one',
    'line 7: names the game of line 1 again',
    `line 9: game_id ${id} is that of an earlier line`,
    'line 10: reason nonsense is unknown: add it with reason add',
    expect.stringMatching(/^line 12: game_icon/),
    expect.stringMatching(/^line 13: .*nonsense/),
    'line 14: application_id is other, not strict',
    'line 15: audit_time lies in the future',
    expect.stringMatching(/^line 16: game_name /),
    'line 17: reason is of a rejected game',
    `line 11: game_id ${taken.game_id} is of another game`,
  ]);
  expect(await statuses('strict')).toEqual({});
  const dry = await importLines('strict', [game('right', DECIDED)], '--dry-run', '--json');
  expect(JSON.parse(dry.stdout)).toEqual({ games: 1, existing: 0, would_import: 1 });
  expect(await statuses('strict')).toEqual({});
  expect((await run(importArgs('strict', join(directory, 'none')))).stderr).toContain('cannot be read');
  expect((await run(importArgs('nobody', file))).stderr).toContain('There is no application');
});

it('an import that is killed continues when it runs again; stored games stay as they are', async () => {
  await addApplication(fleet.sql, 'killed');
  await upsertGames(fleet.sql, 'killed', [fetchedGame({ game_id: 'g-7' })]);
  const COUNT = 30_000;
  const lines = Array.from({ length: COUNT }, (_, n) => ({
    application_game_id: `g-${n}`,
    ...CONTENT,
    ...DECIDED,
  }));
  const file = await fileOf(lines);
  const count = async (): Promise<number> =>
    Object.values(await statuses('killed')).reduce((a, b) => a + b, 0);
  const victim = startCli(importArgs('killed', file), asOperator(fleet.databaseUrl));
  await until('some games are imported', async () => (await count()) > 1_000);
  victim.kill('SIGKILL');
  await victim.done;
  const stored = await count();
  expect(stored).toBeLessThan(COUNT);
  const again = await run(importArgs('killed', file, '--json'));
  expect(JSON.parse(again.stdout)).toMatchObject({ imported: COUNT - stored, existing: stored, waiting: 0 });
  expect(await statuses('killed')).toEqual({ passed: COUNT - 1, pending: 1 });
  const [audits] = await fleet.sql`
    select count(*)::int as decisions, count(distinct game_id)::int as games
    from game_audits join games using (game_id) where application_id = 'killed'`;
  expect(audits).toEqual({ decisions: COUNT - 1, games: COUNT - 1 });
});

it('a game that waits for its first pull stays as it is, also when it is imported again with content', async () => {
  await addApplication(fleet.sql, 'twice');
  const waits = { application_game_id: 'g', audit_status: 'pending' };
  expect((await importLines('twice', [waits])).exit).toBe(0);
  const decided = { application_game_id: 'g', ...CONTENT, ...DECIDED };
  const dry = await importLines('twice', [decided], '--dry-run', '--json');
  expect(JSON.parse(dry.stdout)).toEqual({ games: 1, existing: 1, would_import: 0 });
  const again = await importLines('twice', [decided], '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ imported: 0, decided: 0, existing: 1 });
  expect(await fleet.sql`select from events where application_id = 'twice'`).toEqual([]);
  expect(await fleet.sql`select from games where application_id = 'twice'`).toEqual([]);
  expect(await fleet.sql`select audit_status from imported_games where application_id = 'twice'`).toEqual([
    { audit_status: 'pending' },
  ]);
});

it('only the command line imports: a decision in the name of another is no act of a session or a token', async () => {
  const games = [{ application_game_id: 'g', ...CONTENT, ...DECIDED, audit_status: 'passed' as const }];
  const attempt = operate(
    importGames,
    { application_id: 'killed', games },
    operatorCaller('olga', 'admin'),
    testPlatform(fleet.sql),
  );
  await expect(attempt).rejects.toThrow(ForbiddenError);
});

it('decision export: each decision with its reason, its wait, and whether it stands; no cell is a formula', async () => {
  const { sql } = fleet;
  await addApplication(sql, 'regulated');
  const game = fetchedGame({ game_id: '=cmd()', game_name: '@SUM(1), "x"' });
  await upsertGames(sql, 'regulated', [game]);
  const since = new Date().toISOString();
  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  await decideGame(sql, {
    game_id: game.game_id,
    audit_status: 'rejected',
    reason: 'rights',
    text: '+1\nand more',
  });
  const { game_id } = game;
  await insertMessage(sql, { game_id, kind: 'note', written_by: 'kim', text: 'private' });
  await insertMessage(sql, { game_id, kind: 'message', written_by: 'kim', text: 'Whose is it?' });
  await insertMessage(sql, { game_id, kind: 'answer', written_by: 'regulated', text: 'Ours;=cmd();"x".' });
  await insertAppeal(sql, { game_id, text: 'Look again.' });
  await decideAppeal(sql, { game_id, outcome: 'upheld', decided_by: 'lee', answer: 'No.' });
  const lines = (await run(['decision', 'export', '--since', since])).stdout.trim().split('\n');
  const ours = lines.map((line) => JSON.parse(line)).filter((row) => row.application_id === 'regulated');
  expect(ours).toMatchObject([
    {
      appeal_outcome: null,
      thread: [],
      audit_status: 'passed',
      stands: false,
      waited_s: expect.any(Number),
      reason: null,
    },
    {
      audit_status: 'rejected',
      stands: true,
      waited_s: null,
      reason: 'rights',
      reason_label: expect.stringContaining('Rights'),
      text: '+1\nand more',
      decided_by: 'kim',
      game_name: '@SUM(1), "x"',
      appeal_outcome: 'upheld',
      appeal_text: 'Look again.',
      appeal_decided_by: 'lee',
      appeal_answer: 'No.',
      thread: [
        { written_by: 'kim', text: 'Whose is it?' },
        { written_by: 'regulated', text: 'Ours;=cmd();"x".' },
      ],
    },
  ]);
  const csv = (await run(['decision', 'export', '--since', since, '--format', 'csv'])).stdout;
  expect(csv.split('\r\n')[0]).toMatch(/^audit_id,application_id,application_game_id,/);
  expect(csv).toContain(`,'=cmd(),`);
  expect(csv).toContain(`"'@SUM(1), ""x"""`);
  expect(csv).toContain(`"'+1\nand more"`);
  expect(csv).toContain('""written_by"": ""regulated""'.replaceAll(': ', ':'));
  expect(csv).toContain('Ours\\u003b=cmd()');
  expect(csv).not.toContain('private');
  expect((await run(['decision', 'export', '--since', 'nonsense'])).exit).toBe(2);
});
