import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const LOGGER = pathToFileURL('src/logger.ts').href;

/** What a process writes that logs this error, by itself and through Fastify. */
const logged = (error: string): Promise<string> => {
  const script = `
    import { fastify } from ${JSON.stringify(import.meta.resolve('fastify'))};
    import { createLogger } from ${JSON.stringify(LOGGER)};
    const logger = createLogger('info', { pretty: false, process: 'test' });
    const error = ${error};
    logger.error({ err: error }, 'by itself');
    const app = fastify({ loggerInstance: logger });
    app.get('/', (request) => { request.log.error({ err: error }, 'through fastify'); return 'ok'; });
    await app.inject('/');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
  return text(child.stderr);
};

test('the log keeps of an error what it says, and nothing that a driver hangs on it', async () => {
  const lines = await logged(
    `Object.assign(new Error('WRONGPASS no such user'), { name: 'ReplyError', code: 'X1', command: { args: ['AUTH', 'planted-password'] } })`,
  );
  expect(lines).not.toContain('planted-password');
  const errors = lines.split('\n').flatMap((line) => (line.includes('"err"') ? [JSON.parse(line).err] : []));
  expect(errors).toHaveLength(2);
  for (const error of errors) {
    expect(error).toMatchObject({ type: 'ReplyError', message: 'WRONGPASS no such user', code: 'X1' });
    expect(error.stack).toContain('Error');
  }
});

test.each([false, true])(
  'an id with control characters is escaped on every line (pretty: %s)',
  async (pretty) => {
    const id = 'g\u009b31m\u202etxt.exe\u2066\u2028\u007f\u001b[2J';
    const script = `
    import { createLogger } from ${JSON.stringify(LOGGER)};
    const logger = createLogger('info', { pretty: ${pretty}, process: 'test' });
    logger.child({ job_id: ${JSON.stringify(id)} }).warn({ application_game_ids: [${JSON.stringify(id)}] }, 'job failed');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    const lines = await text(child.stderr);
    expect(lines).toContain('\\u009b31m\\u202etxt.exe\\u2066\\u2028\\u007f');
    expect(lines.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
    if (!pretty) expect(JSON.parse(lines)).toMatchObject({ job_id: id, application_game_ids: [id] });
  },
);

test('a process that exits at once writes its lines in their order', async () => {
  const script = `
    import { createLogger } from ${JSON.stringify(LOGGER)};
    const logger = createLogger('info', { pretty: false, process: 'test' });
    for (const n of [1, 2, 3]) logger.error({ n }, 'a line');
    process.exit(1);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
  const lines = (await text(child.stderr)).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).n)).toEqual([1, 2, 3]);
});

test.skipIf(!existsSync('/dev/full'))(
  'a log on a full disk stops nothing, and goes on once there is space',
  async () => {
    await using cleanup = new AsyncDisposableStack();
    const directory = cleanup.adopt(await mkdtemp(join(tmpdir(), 'catalogue-log-')), (path) =>
      rm(path, { recursive: true }),
    );
    const log = join(directory, 'log');
    const script = `
    import { openSync, closeSync } from 'node:fs';
    import { createLogger } from ${JSON.stringify(LOGGER)};
    // The lowest free number: stderr is the device without space, then the file.
    const redirectTo = (path) => { closeSync(2); openSync(path, 'a'); };
    const logger = createLogger('info', { pretty: false, process: 'test' });
    redirectTo('/dev/full');
    for (let line = 0; line < 100; line += 1) {
      logger.info({ line }, 'lost');
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    redirectTo(${JSON.stringify(log)});
    logger.info('space again');
    await new Promise((resolve) => setTimeout(resolve, 100));
    redirectTo('/dev/full');
    logger.fatal('lost as well');
    process.stdout.write('worked', () => process.exit());`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    const end = setTimeout(() => child.kill('SIGKILL'), 30_000);
    const [stdout, [exit]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    clearTimeout(end);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: 'worked' });
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ msg: 'space again' });
    // Of the hundred before, only the last ones could still be waiting: on a busy machine two were.
    expect(lines.length).toBeLessThan(10);
  },
);
