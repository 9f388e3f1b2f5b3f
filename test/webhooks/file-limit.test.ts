import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { aServer } from '#test/support/webhooks.ts';

const run = promisify(execFile);

/** @param free files that the process may still open */
const callWithoutFiles = async (url: string, free: number): Promise<unknown> => {
  const args = [process.execPath, 'test/support/call-without-files.ts', url, String(free)];
  const { stdout } = await run('sh', ['-c', 'ulimit -n 60; exec "$@"', 'sh', ...args]);
  return JSON.parse(stdout);
};

const NO_SOCKET = {
  code: 'no_socket',
  message: 'this machine opened no connection (EMFILE)',
  retryable: true,
};

test.for(['http://127.0.0.1:9/', 'https://localhost:9/'])(
  'a worker that may open no further file says so, and blames neither the application nor its name: %s',
  async (url) => {
    expect(await callWithoutFiles(url, 0)).toEqual(NO_SOCKET);
  },
);

test('nor if the connection was the last file: undici then cannot load its parser', async () => {
  const server = await aServer((_, response) => response.end());
  expect(await callWithoutFiles(server.url, 1)).toEqual(NO_SOCKET);
});
