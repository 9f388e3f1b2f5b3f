import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { useRuns } from '#test/cli/runs-world.ts';
import { runCli } from '#test/support/cli.ts';
import { addApplication } from '#test/support/factories.ts';
import { terminalTest as it, openTerminal, type Terminal } from '#test/support/terminal.ts';
import { until } from '#test/support/until.ts';

const { world, openRun } = useRuns();
const terminals = new Map<number, Terminal>();
const terminal = (columns: number): Terminal => terminals.get(columns) as Terminal;

beforeAll(async () => {
  for (const columns of [60, 100]) terminals.set(columns, await openTerminal({ columns, env: world.env }));
});
afterAll(async () => {
  for (const each of terminals.values()) await each.close();
});

/** Reasons for which cases are skipped if no call has a response. */
const SKIPPED_REASONS = 7;

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
    const { exit, stdout } = await runCli(command.split(' '), { ...world.env, NO_COLOR: '1' }, '', columns);
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
    world.gate.release();
    expect((await world.fleet.ended(run_id)).outcome).toBe('succeeded');
  });

  it('shows a record as lines "field: value"', async () => {
    const { screen } = await terminal(columns).run('catalogue app show acme');
    expect(screen).toMatch(/^application_id: acme$/m);
    expect(screen).toMatch(/^status: active$/m);
    expect(screen).toMatch(/^created: |^created_at: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+05:30$/m);
  });
});

it('shows long output in the pager, and none of it in a pipe', async () => {
  const small = await openTerminal({
    columns: 100,
    rows: 5,
    env: { ...world.env, PAGER: 'sed s/^/paged:/' },
  });
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
  await world.fleet.sql`update sync_runs set note = 'page 1: called again at noon' where run_id = ${run_id}`;
  await until('it is said', async () => (await screen.screen()).includes('gated: page 1: called again'));
  world.gate.release();
  await until('it ends', async () => /\[exit \d\]$/m.test(await screen.screen()));
  const lines = (await screen.screen()).split('\n').filter((line) => /noon|[░█]/.test(line));
  expect(lines).toEqual(['gated: page 1: called again at noon', expect.stringMatching(/^gated [░█]{30} /)]);
});

it('the bar of a run that changes nothing is full at its end', async () => {
  expect((await runCli(['sync', 'acme', '--wait'], world.env)).exit).toBe(0);
  const { screen } = await terminal(100).run('catalogue sync acme --wait');
  expect(screen).toMatch(/^acme █{30} ([1-9]\d*)\/\1 games$/m);
});

it('app remove asks on a terminal, and removes nothing without the id', async () => {
  await addApplication(world.fleet.sql, 'gone-soon');
  const screen = terminal(100);
  await screen.type('clear; catalogue app remove gone-soon; echo "[exit $?]"');
  await until('it asks', async () => (await screen.screen()).includes('Type its id to confirm:'));
  await screen.type('yes');
  await until('it ends', async () => (await screen.screen()).includes('[exit 1]'));
  expect((await runCli(['app', 'show', 'gone-soon'], world.env)).exit).toBe(0);
  // No question of the first time is left on the screen.
  await screen.run('true');
  await screen.type('catalogue app remove gone-soon; echo "[second $?]"');
  await until('it asks', async () => (await screen.screen()).includes('Type its id to confirm:'));
  await screen.type('gone-soon');
  await until('it ends', async () => (await screen.screen()).includes('[second 0]'));
  expect((await runCli(['app', 'show', 'gone-soon'], world.env)).exit).toBe(2);
});
