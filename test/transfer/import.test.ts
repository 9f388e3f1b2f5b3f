import { execFile } from 'node:child_process';
import { randomUUIDv7 } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { importGames } from '#src/operations/imports.ts';
import { operate } from '#src/operations/operate.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { identifyPins } from '#src/pictures/identify-pins.ts';
import { pictureId } from '#src/rules/pictures.ts';
import { startCli } from '#test/support/cli.ts';
import { addApplication, DEFAULT_RULE, fetchedGame } from '#test/support/factories.ts';
import { operatorCaller, testPlatform } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { until } from '#test/support/until.ts';
import { CONTENT, DECIDED, importArgs, useTransfers } from '#test/transfer/transfers.ts';

const { fleet, fileOf, importLines, run, statuses } = useTransfers();

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
  expect(result.stdout).toContain('30 imported: 16 decided, 4 pending, 10 wait for their first pull.');
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
    game('17', { ...DECIDED, audit_time: '0001-01-01T00:00:00Z' }),
    game('18', { withdrawn_at: '0001-01-01T00:00:00Z' }),
    game('19', { withdrawn_at: '2999-01-01T00:00:00Z' }),
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
    'line 18: audit_time is before 1970',
    'line 19: withdrawn_at is before 1970',
    'line 20: withdrawn_at lies in the future',
    `line 11: game_id ${taken.game_id} is of another game`,
  ]);
  expect(await statuses('strict')).toEqual({});
  const dry = await importLines('strict', [game('right', DECIDED)], '--dry-run', '--json');
  expect(JSON.parse(dry.stdout)).toEqual({ games: 1, existing: 0, would_import: 1 });
  expect(await statuses('strict')).toEqual({});
  expect((await run(importArgs('strict', '/no/such/file'))).stderr).toContain('cannot be read');
  expect((await run(importArgs('nobody', file))).stderr).toContain('There is no application');
});

it.for(['-', '/dev/stdin'])(
  'a file from a pipe is read as a whole, as in a container: --file %s',
  async (name) => {
    const application_id = name === '-' ? 'piped' : 'device';
    await addApplication(fleet.sql, application_id);
    const lines = Array.from({ length: 3_000 }, (_, n) => ({
      application_game_id: `${application_id}-${n}`,
      ...CONTENT,
      ...DECIDED,
    }));
    const file = await fileOf(lines);
    const args = importArgs(application_id, name).join(' ');
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', `cat ${file} | src/cli/bin/catalogue ${args}`],
      {
        env: { ...process.env, ...asOperator(fleet.databaseUrl) },
      },
    );
    expect(stdout).toBe(
      '3000 imported: 3000 decided, 0 pending, 0 wait for their first pull. 0 were stored already.\n',
    );
    expect(await statuses(application_id)).toEqual({ passed: 3_000 });
  },
);

it('an import that is killed continues when it runs again; stored games stay as they are', async () => {
  await addApplication(fleet.sql, 'killed');
  await upsertGames(fleet.sql, 'killed', [fetchedGame({ game_id: 'g-7' })]);
  const COUNT = 12_000;
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
