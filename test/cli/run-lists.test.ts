import { expect, it } from 'vitest';
import { useRuns } from '#test/cli/runs-world.ts';
import { documentOf, runCli } from '#test/support/cli.ts';

const { world } = useRuns();

it('failure list names the runs and the pages that failed, also of manual runs', async () => {
  const { failures } = documentOf(await runCli(['failure', 'list', '--json'], world.env));
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
  const failed = documentOf(
    await runCli(['failure', 'list', '--outcome', 'failed', '--json'], world.env),
  ).failures;
  const applications = new Set(failed.map((failure: { application_id: string }) => failure.application_id));
  expect([...applications]).toContain('closed-port');
  expect([...applications]).not.toContain('unread');
});

it('a listing that names fewer games than its total is reported on the run and in app list', async () => {
  for (const list of [
    ['run', 'list', 'incomplete'],
    ['app', 'list', '--search', 'incomplete'],
  ])
    expect((await runCli(list, world.env)).stdout).toContain(
      'the listing names 37 of 137 games, 100 are missing',
    );
});

it('run days counts the runs of each day by outcome', async () => {
  const { days } = documentOf(await runCli(['run', 'days', '--json'], world.env));
  const { runs } = documentOf(await runCli(['run', 'list', '--limit', '1000', '--json'], world.env));
  const ended = runs.filter((run: { outcome: string | null }) => run.outcome !== null);
  expect(days.reduce((sum: number, day: { runs: number }) => sum + day.runs, 0)).toBe(ended.length);
  const ofOne = await runCli(['run', 'days', 'closed-port'], world.env);
  expect(ofOne.stdout).toMatch(/^\d{4}-\d\d-\d\d +failed +\d/m);
});

it('run list says why, filters by outcome and time, and continues where "next" says', async () => {
  const failed = await runCli(['run', 'list', '--outcome', 'failed', '--since', '1h'], world.env);
  expect(failed.stdout).toMatch(/closed-port +failed .*page 1: connect_failed/);
  expect(failed.stdout.trim().split('\n')).toHaveLength(2);
  const all = documentOf(await runCli(['run', 'list', '--json'], world.env)).runs;
  const seen = [];
  for (let args = ['run', 'list', '--limit', '3', '--json']; args.length > 0; ) {
    const document = documentOf(await runCli(args, world.env));
    seen.push(...document.runs);
    args =
      document.next_cursor === undefined
        ? []
        : ['run', 'list', '--limit', '3', '--json', '--cursor', document.next_cursor];
  }
  expect(seen).toEqual(all);
  const text = (await runCli(['run', 'list', '--limit', '2'], world.env)).stdout;
  expect(text).toMatch(
    new RegExp(`^2 of ${all.length}, next: npx catalogue run list --limit 2 --cursor \\S+$`, 'm'),
  );
});

it('lists sort by a column and search for a text', async () => {
  const ids = async (...args: string[]): Promise<string[]> =>
    documentOf(await runCli(['app', 'list', '--json', ...args], world.env)).applications.map(
      ({ application_id }: { application_id: string }) => application_id,
    );
  expect((await ids('--sort', '-application_id')).join()).toBe('unread,incomplete,gated,closed-port,acme');
  expect(await ids('--newest', '--limit', '1')).toEqual(['unread']);
  expect(await ids('--search', 'CLOSED')).toEqual(['closed-port']);
  expect(await ids('--search', '%')).toEqual([]);
  expect(await ids('--outcome', 'failed')).toEqual(['closed-port']);
  const wrong = await runCli(['app', 'list', '--sort', 'reason'], world.env);
  expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('Sort by application_id, name') });
});

it('an ambiguous id of a run names those that it fits', async () => {
  const { runs } = documentOf(await runCli(['run', 'list', '--json'], world.env));
  const prefix = runs[0].run_id.slice(0, 4);
  const ambiguous = await runCli(['run', 'show', prefix], world.env);
  expect(ambiguous.exit).toBe(2);
  expect(ambiguous.stderr).toContain(`Several run ids begin with ${prefix}`);
});
