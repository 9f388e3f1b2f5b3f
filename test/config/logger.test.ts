import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const LOGGER = pathToFileURL('src/logger.ts').href;

/** What a process writes that logs this error, by itself and through Fastify. */
const logged = (error: string): Promise<string> => {
  const script = `
    import { fastify } from ${JSON.stringify(import.meta.resolve('fastify'))};
    import { createLogger } from ${JSON.stringify(LOGGER)};
    const logger = createLogger('info', { pretty: false, role: 'test' });
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
    const logger = createLogger('info', { pretty: ${pretty}, role: 'test' });
    logger.child({ job_id: ${JSON.stringify(id)} }).warn({ application_game_ids: [${JSON.stringify(id)}] }, 'job failed');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    const lines = await text(child.stderr);
    expect(lines).toContain('\\u009b31m\\u202etxt.exe\\u2066\\u2028\\u007f');
    expect(lines.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
    if (!pretty) expect(JSON.parse(lines)).toMatchObject({ job_id: id, application_game_ids: [id] });
  },
);
