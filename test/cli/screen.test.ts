import { createHash } from 'node:crypto';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { queryGameList } from '#src/ingest/specs.ts';
import { stepId } from '#src/ingest/steps.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { documentOf, runCli, startCli } from '#test/support/cli.ts';
import { addApplication } from '#test/support/factories.ts';
import { useTestFleet, webhooksAt } from '#test/support/fleet.ts';
import { type Gate, startGate } from '#test/support/gate.ts';
import { goodDetail, goodRow, idsOf, success } from '#test/support/hostile-application.ts';
import { decideGame } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { terminalTest as it, openTerminal, type Terminal } from '#test/support/terminal.ts';
import { until } from '#test/support/until.ts';

/** What commands that call webhooks need. */
const OF_CHECKS = {
  ENCRYPTION_KEYS: `test:${createHash('sha256').update('the key of the tests').digest('base64')}`,
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
};
/** Reasons for which cases are skipped if no call has a response. */
const SKIPPED_REASONS = 7;

const fleet = useTestFleet('postgres');
let env: Record<string, string>;
let gate: Gate;
const servers: RawServer[] = [];
const terminals = new Map<number, Terminal>();
const terminal = (columns: number): Terminal => terminals.get(columns) as Terminal;

beforeAll(async () => {
  const { sql, databaseUrl, prefix } = fleet;
  env = { ...asOperator(databaseUrl), QUEUE_PREFIX: prefix, TZ: 'Asia/Kolkata', ...OF_CHECKS };
  const { server } = await fleet.addApplication('acme', 30);
  gate = await startGate(server.url);
  await addApplication(sql, 'gated', webhooksAt(gate.url));
  await addApplication(sql, 'closed-port', webhooksAt('http://127.0.0.1:9'));
  const empty = success({ total: 137, list: [] });
  for (const [id, secondPage] of [
    ['incomplete', empty],
    ['unread', '<html>'],
  ] as const) {
    const server = await startRawServer(async (request, response) => {
      const { page_num, game_id } = JSON.parse(Buffer.concat(await request.toArray()).toString());
      if (game_id !== undefined) response.end(success(goodDetail(game_id)));
      else if (page_num === 1) response.end(success({ total: 137, list: idsOf('g', 37).map(goodRow) }));
      else response.end(page_num === 2 ? secondPage : empty);
    });
    servers.push(server);
    await addApplication(sql, id, webhooksAt(server.url));
  }
  await fleet.startWorker();
  for (const id of ['acme', 'closed-port', 'incomplete', 'unread']) await fleet.sync(id);
  const [game] = await sql<{ game_id: string }[]>`select game_id from games limit 1`;
  await decideGame(sql, { game_id: game?.game_id ?? '', audit_status: 'passed' });
  for (const columns of [60, 100]) terminals.set(columns, await openTerminal({ columns, env }));
});
afterAll(async () => {
  for (const each of terminals.values()) await each.close();
  for (const each of servers) await each.close();
  await gate?.close();
});

/** Attaches to the open run, which goes on then. */
const attach = async (option: string) => {
  const second = startCli(['sync', 'gated', '--wait', option], env);
  await until('it waits', () => second.output().stderr.includes('waiting for it'));
  gate.release();
  return second.done;
};

/** A run that waits at its first page. */
const openRun = async (): Promise<string> => {
  gate.block(() => true);
  const { run_id } = await fleet.startRun('gated');
  await gate.blocked(1);
  return run_id;
};

it.each([
  'app list',
  'run list',
  'failure list',
  'game list',
  'kyc list',
  'event deliveries',
  'queue status',
  'token list',
  'operator list',
])('no line of %s is wider than a terminal of 100 or 60 columns, or padded', async (command) => {
  for (const columns of [100, 60]) {
    const { exit, stdout } = await runCli(command.split(' '), { ...env, NO_COLOR: '1' }, '', columns);
    expect({ command, exit }).toEqual({ command, exit: 0 });
    for (const line of stdout.split('\n')) {
      // A field of a record, and the command that continues a list, are whole: the terminal wraps them.
      if (/^[a-z ]+: |, next: /.test(line)) continue;
      expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    }
  }
});

describe.each([100, 60])('On a terminal of %i columns', (columns) => {
  it('app list shows which application is unhealthy, since when and why', async () => {
    const { screen } = await terminal(columns).run('catalogue app list');
    const between = columns === 100 ? ' +' : '\\n[a-z ]+: ';
    const when = ['\\d+[smh]', '30d'];
    const row = ['closed-port', 'Acme Games', 'active', 'failed', ...when, 'page 1: connect_failed'];
    expect(screen).toMatch(new RegExp(row.join(between)));
  });

  it('run list shows what each run did, at 100 columns as a table and never as an empty field', async () => {
    const { screen } = await terminal(columns).run('catalogue run list');
    if (columns === 100) {
      expect(screen).toMatch(/^ago +application_id +outcome +listed +games +why +run_id$/m);
      expect(screen).toMatch(/^\d+[smh] +acme +succeeded +30 +30 new {2,}[0-9a-f-]{23}$/m);
    } else {
      expect(screen).toMatch(
        /^application_id: acme\noutcome: succeeded\nlisted: 30\ngames: 30 new\nrun_id: /m,
      );
      expect(screen).not.toMatch(/^[a-z_ ]*:$/m);
    }
  });

  it('Ctrl-C in sync --wait leaves the terminal as it was, and says that the run goes on', async () => {
    const run_id = await openRun();
    const screen = terminal(columns);
    await screen.type('clear; catalogue sync gated --wait; echo "[exit $?]"');
    await until('it waits', async () => /0\/0 games|waiting for it/.test(await screen.screen()));
    await screen.press('C-c');
    const text = await until('it ends', async () => {
      const now = await screen.screen();
      return now.includes('[exit 130]') && now;
    });
    expect(text).toContain(`The run goes on: npx catalogue run show ${run_id}`);
    expect(await screen.modes()).toEqual({ cursor: true, wrap: true });
    gate.release();
    expect((await fleet.ended(run_id)).outcome).toBe('succeeded');
  });

  it('shows a record as lines "field: value"', async () => {
    const { screen } = await terminal(columns).run('catalogue app show acme');
    expect(screen).toMatch(/^application_id: acme$/m);
    expect(screen).toMatch(/^status: active$/m);
    expect(screen).toMatch(/^created: |^created_at: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+05:30$/m);
  });
});

it('a second sync --wait attaches to the open run and ends with its outcome', async () => {
  const run_id = await openRun();
  const result = await attach('--json');
  expect(result.exit).toBe(0);
  expect(documentOf(result).runs).toMatchObject([{ run_id, outcome: 'succeeded' }]);
});

it('a second sync --wait with other options says that they had no effect, and exits with 4', async () => {
  await openRun();
  const { exit, stderr } = await attach('--full');
  expect(exit).toBe(4);
  expect(stderr).toContain('without the options given here');
});

it('run cancel ends an open run, under any cut of its id, and its jobs leave the queue', async () => {
  const run_id = await openRun();
  const cancelled = await runCli(['run', 'cancel', run_id.slice(0, 20), '--by', 'kim', '--json'], env);
  expect(cancelled.exit).toBe(0);
  expect(documentOf(cancelled)).toMatchObject({ run_id, reason: 'cancelled by an operator' });
  gate.release();
  const job = await fleet.jobEnded(queryGameList, stepId({ run_id, fence: 1 }, 1));
  expect(job.returnvalue).toMatchObject({ skipped: 'stale fence' });
  const again = await runCli(['run', 'cancel', run_id], env);
  expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining('already ended: abandoned') });
  const [open] = await fleet.sql`select from sync_runs where finished_at is null`;
  expect(open).toBeUndefined();
});

it('failure list names the runs and the pages that failed, also of manual runs', async () => {
  const { failures } = documentOf(await runCli(['failure', 'list', '--json'], env));
  expect(failures).toContainEqual(
    expect.objectContaining({
      application_id: 'closed-port',
      kind: 'connect_failed',
      operation: 'query_game_list',
    }),
  );
  expect(failures).toContainEqual(
    expect.objectContaining({
      application_id: 'unread',
      kind: 'not_json',
      reasons: [{ path: 'page 2', code: 'not_json' }],
    }),
  );
  const failed = documentOf(await runCli(['failure', 'list', '--outcome', 'failed', '--json'], env)).failures;
  const applications = new Set(failed.map((failure: { application_id: string }) => failure.application_id));
  expect([...applications]).toContain('closed-port');
  expect([...applications]).not.toContain('unread');
});

it('a listing that names fewer games than its total is reported on the run and in app list', async () => {
  for (const list of [
    ['run', 'list', 'incomplete'],
    ['app', 'list', '--search', 'incomplete'],
  ])
    expect((await runCli(list, env)).stdout).toContain('the listing names 37 of 137 games, 100 are missing');
});

it('run days counts the runs of each day by outcome', async () => {
  const { days } = documentOf(await runCli(['run', 'days', '--json'], env));
  const { runs } = documentOf(await runCli(['run', 'list', '--limit', '1000', '--json'], env));
  const ended = runs.filter((run: { outcome: string | null }) => run.outcome !== null);
  expect(days.reduce((sum: number, day: { runs: number }) => sum + day.runs, 0)).toBe(ended.length);
  const ofOne = await runCli(['run', 'days', 'closed-port'], env);
  expect(ofOne.stdout).toMatch(/^\d{4}-\d\d-\d\d +failed +\d/m);
});

it('run list says why, filters by outcome and time, and continues where "next" says', async () => {
  const failed = await runCli(['run', 'list', '--outcome', 'failed', '--since', '1h'], env);
  expect(failed.stdout).toMatch(/closed-port +failed .*page 1: connect_failed/);
  expect(failed.stdout.trim().split('\n')).toHaveLength(2);
  const all = documentOf(await runCli(['run', 'list', '--json'], env)).runs;
  const seen = [];
  for (let args = ['run', 'list', '--limit', '3', '--json']; args.length > 0; ) {
    const document = documentOf(await runCli(args, env));
    seen.push(...document.runs);
    args =
      document.next_cursor === undefined
        ? []
        : ['run', 'list', '--limit', '3', '--json', '--cursor', document.next_cursor];
  }
  expect(seen).toEqual(all);
  const text = (await runCli(['run', 'list', '--limit', '2'], env)).stdout;
  expect(text).toMatch(
    new RegExp(`^2 of ${all.length}, next: npx catalogue run list --limit 2 --cursor \\S+$`, 'm'),
  );
});

it('lists sort by a column and search for a text', async () => {
  const ids = async (...args: string[]): Promise<string[]> =>
    documentOf(await runCli(['app', 'list', '--json', ...args], env)).applications.map(
      ({ application_id }: { application_id: string }) => application_id,
    );
  expect((await ids('--sort', '-application_id')).join()).toBe('unread,incomplete,gated,closed-port,acme');
  expect(await ids('--newest', '--limit', '1')).toEqual(['unread']);
  expect(await ids('--search', 'CLOSED')).toEqual(['closed-port']);
  expect(await ids('--search', '%')).toEqual([]);
  expect(await ids('--outcome', 'failed')).toEqual(['closed-port']);
  const wrong = await runCli(['app', 'list', '--sort', 'reason'], env);
  expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('Sort by application_id, name') });
});

it('run show lists the failures of the run, and an ambiguous id names those that it fits', async () => {
  const { runs } = documentOf(await runCli(['run', 'list', '--json'], env));
  const prefix = runs[0].run_id.slice(0, 4);
  const ambiguous = await runCli(['run', 'show', prefix], env);
  expect(ambiguous.exit).toBe(2);
  expect(ambiguous.stderr).toContain(`Several run ids begin with ${prefix}`);
});

it('shows long output in the pager, and none of it in a pipe', async () => {
  const small = await openTerminal({ columns: 100, rows: 5, env: { ...env, PAGER: 'sed s/^/paged:/' } });
  try {
    expect((await small.run('catalogue run list')).screen).toMatch(/^paged:ago/m);
    expect((await small.run('catalogue run list | head -3')).screen).toMatch(/^ago/m);
    expect((await small.run('catalogue app show acme --json')).screen).not.toContain('paged:');
  } finally {
    await small.close();
  }
});

it('colours states on a terminal, and nothing with NO_COLOR or in a pipe', async () => {
  const screen = terminal(100);
  await screen.run('catalogue app list');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for colours
  const red = /\u001b\[31m[^\u001b]*failed/;
  expect(await screen.colours()).toMatch(red);
  await screen.run('NO_COLOR=1 catalogue app list');
  expect(await screen.colours()).not.toMatch(red);
  await screen.run('catalogue app list | cat');
  expect(await screen.colours()).not.toMatch(red);
  await screen.run('FORCE_COLOR=1 catalogue app list | cat');
  expect(await screen.colours()).toMatch(red);
});

it('app check shows on a terminal how far it is, what failed, and how many cases were skipped for what reason', async () => {
  const screen = terminal(100);
  const passed = await screen.run('catalogue app check acme');
  expect([passed.exit, passed.screen.trim()]).toEqual([
    0,
    expect.stringMatching(/^acme █{30} (\d+)\/\1 cases\n\1 passed, 0 failed, 0 skipped$/),
  ]);
  const failed = await screen.run('catalogue app check closed-port');
  expect(failed.exit).toBe(3);
  expect(failed.screen.match(/^(FAILED|passed|skipped) .*?:/gm)).toEqual([
    'FAILED   list.envelope:',
    'FAILED   detail.envelope:',
    'FAILED   kyc.envelope:',
    ...Array(SKIPPED_REASONS).fill(expect.stringMatching(/^skipped {2}\d+ of \d+:$/)),
  ]);
  const piped = await screen.run('catalogue app check acme | cat');
  expect(piped.screen).toMatch(/^passed {3}list\.envelope$/m);
});

it('sync --wait keeps what it says above its progress bar', async () => {
  const screen = terminal(100);
  const run_id = await openRun();
  await screen.type('clear; catalogue sync gated --wait; echo "[exit $?]"');
  await until('the bar is drawn', async () => (await screen.screen()).includes('░ 0/'));
  await fleet.sql`update sync_runs set note = 'page 1: called again at noon' where run_id = ${run_id}`;
  await until('it is said', async () => (await screen.screen()).includes('gated: page 1: called again'));
  gate.release();
  await until('it ends', async () => /\[exit \d\]$/m.test(await screen.screen()));
  const lines = (await screen.screen()).split('\n').filter((line) => /noon|[░█]/.test(line));
  expect(lines).toEqual(['gated: page 1: called again at noon', expect.stringMatching(/^gated [░█]{30} /)]);
});

it('the bar of a run that changes nothing is full at its end', async () => {
  expect((await runCli(['sync', 'acme', '--wait'], env)).exit).toBe(0);
  const { screen } = await terminal(100).run('catalogue sync acme --wait');
  expect(screen).toMatch(/^acme █{30} ([1-9]\d*)\/\1 games$/m);
});

it('sync --wait names paused queues', async () => {
  expect((await runCli(['queue', 'pause', 'query-game-list'], env)).exit).toBe(0);
  const waiting = startCli(['sync', 'acme', '--wait'], env);
  await until('it says what is paused', () =>
    waiting.output().stderr.includes('Paused queues start no jobs: query-game-list.'),
  );
  expect((await runCli(['queue', 'resume'], env)).exit).toBe(0);
  expect((await waiting.done).exit).toBe(0);
});

it('app remove asks on a terminal, and removes nothing without the id', async () => {
  await addApplication(fleet.sql, 'gone-soon');
  const screen = terminal(100);
  await screen.type('clear; catalogue app remove gone-soon; echo "[exit $?]"');
  await until('it asks', async () => (await screen.screen()).includes('Type its id to confirm:'));
  await screen.type('yes');
  await until('it ends', async () => (await screen.screen()).includes('[exit 1]'));
  expect((await runCli(['app', 'show', 'gone-soon'], env)).exit).toBe(0);
  // No question of the first time is left on the screen.
  await screen.run('true');
  await screen.type('catalogue app remove gone-soon; echo "[second $?]"');
  await until('it asks', async () => (await screen.screen()).includes('Type its id to confirm:'));
  await screen.type('gone-soon');
  await until('it ends', async () => (await screen.screen()).includes('[second 0]'));
  expect((await runCli(['app', 'show', 'gone-soon'], env)).exit).toBe(2);
});
