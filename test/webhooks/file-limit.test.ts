import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test.for(['http://127.0.0.1:9/', 'https://localhost:9/'])(
  'a worker that may open no further file says so, and blames neither the application nor its name: %s',
  async (url) => {
    const args = [process.execPath, 'test/support/call-without-files.ts', url];
    const { stdout } = await run('sh', ['-c', 'ulimit -n 60; exec "$@"', 'sh', ...args]);
    expect(JSON.parse(stdout)).toEqual({
      code: 'no_socket',
      message: 'this machine opened no connection (EMFILE)',
      retryable: true,
    });
  },
);
