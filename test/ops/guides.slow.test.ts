import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { findFreePort } from '#src/embedded/free-port.ts';
import { startSystemPostgres } from '#test/ops/debian-postgres.ts';
import { startRedisServer } from '#test/support/redis-server.ts';
import { withoutRedis } from '#test/support/small-fleet.ts';

/** The shell blocks of a page. Blocks named `sh setup` are excluded: test machines have those programs. */
const blocksOf = (page: string): string[] =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);

/** Like a fresh clone after `npm ci`: the project's files and node_modules. */
const createClone = async (): Promise<AsyncDisposable & { directory: string }> => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-clone-'));
  for (const name of ['package.json', 'src', 'jobs', 'db', 'docs', '.env.example']) {
    await cp(name, join(directory, name), { recursive: true });
  }
  await symlink(resolve('node_modules'), join(directory, 'node_modules'));
  return {
    directory,
    [Symbol.asyncDispose]: async () => {
      // For root the embedded Postgres is in a directory that its own user can read.
      const record = await readFile(join(directory, '.catalogue', 'postgres.json'), 'utf8').catch(() => '{}');
      const { directory: data } = JSON.parse(record) as { directory?: string };
      if (data !== undefined)
        await rm(resolve(directory, '.catalogue', data), { recursive: true, force: true });
      await rm(directory, { recursive: true, force: true });
    },
  };
};

/** A guide that hangs is killed, and its output shows where. */
const FOLLOW_MS = 240_000;

/** Runs the blocks in order in one shell, as a reader does. Ends the processes that they left running. */
const follow = async (blocks: readonly string[], directory: string, env: Record<string, string>) => {
  const script = [
    'set -euo pipefail',
    `trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT`,
    ...blocks.map((block, n) => `echo "== block ${n + 1}" >&2\n${block}`),
    'echo "== followed to the end" >&2',
  ].join('\n');
  await writeFile(join(directory, 'guide.sh'), script);
  const { HOME = '/', PATH = '' } = process.env;
  const child = spawn('bash', ['guide.sh'], {
    cwd: directory,
    env: {
      HOME,
      PATH,
      npm_config_cache: join(directory, '.npm'),
      API_PORT: '0',
      CONSOLE_PORT: '0',
      KYC_DESK_PORT: '0',
      METRICS_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const late = setTimeout(() => child.kill(), FOLLOW_MS);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  clearTimeout(late);
  const logs = (await readdir(directory)).filter((name) => name.endsWith('.log'));
  const logged = await Promise.all(logs.map((name) => readFile(join(directory, name), 'utf8')));
  return { stdout, said: `${stdout}\n${stderr}\n${logged.join('\n')}` };
};

test.skipIf(withoutRedis())(
  'a stranger follows "Run it", "Operate it" and "The console" from a fresh clone through rotate, retry and restore',
  async ({ skip }) => {
    const pages = ['docs/run.md', 'docs/operate.md', 'docs/console.md'].map((page) => readFile(page, 'utf8'));
    const guide = (await Promise.all(pages)).join('\n');
    expect(guide, 'a password is no argument').not.toMatch(
      /^(pg_dump|pg_restore|psql) .*\$(url|DATABASE_URL)/m,
    );
    // The role of the guide, not a superuser: it must have the rights for every command below.
    const setup = [...guide.matchAll(/^sudo -u postgres (.*)$/gm)].map(([, command = '']) => command);
    expect(setup.join('\n')).toMatch(/^createuser --pwprompt .*\ncreatedb /);
    await using postgres = await startSystemPostgres(setup.map((line) => line.replace('--pwprompt ', '')));
    if (postgres === undefined) {
      if (process.env.CI)
        throw new Error('with CI set a missing Postgres is a failure: apt-get install -y postgresql');
      return skip('there is no Postgres server with pg_dump here: apt-get install -y postgresql');
    }
    await using redis = await startRedisServer();
    await using clone = await createClone();
    const port = String(await findFreePort());
    const page = guide
      .replaceAll('postgres://catalogue:PASSWORD@127.0.0.1:5432/catalogue', postgres.databaseUrl)
      .replaceAll('redis://127.0.0.1:6379', redis.url)
      .replaceAll('3000', port);
    const { stdout, said } = await follow(blocksOf(page), clone.directory, { PATH: postgres.bin });
    expect(said).toContain('== followed to the end');
    expect(said).toContain('0 data keys wrapped again');
    // A tick of the schedule may add a run that finds 250 unchanged.
    expect(
      stdout.match(/acme +succeeded +250 +250 +(?:0|new)\b/g),
      'the first pull, shown twice',
    ).toHaveLength(2);
    expect(stdout, 'after the restore nothing is new').toMatch(/acme +succeeded +250 +0 +0 +250/);
    expect(stdout.match(/\bsealed\b/g)?.length).toBeGreaterThanOrEqual(3);
  },
);

test('the guide for application developers works, and its example follows the interface document', async () => {
  await using clone = await createClone();
  const port = String(await findFreePort());
  const page = (await readFile('docs/application-developers.md', 'utf8')).replaceAll('3000', port);
  const { said } = await follow(blocksOf(page), clone.directory, {});
  expect(said).toContain('== followed to the end');
  expect(said).toMatch(/[1-9]\d* passed, 0 failed, 0 skipped/);
  expect(said).toContain('{"failures":[]}');
});
