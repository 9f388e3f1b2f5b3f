// docs/operator-api.md, as a reader follows it: every block, in one shell, against an API that listens.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createSmallFleet, PLANTED_TOKEN, withoutRedis } from '#test/support/small-fleet.ts';

test.skipIf(withoutRedis())('a reader makes a token, calls, and applies a file from Git', async () => {
  await using fleet = await createSmallFleet();
  expect((await fleet.run('migrate')).exit).toBe(0);
  const { address } = await fleet.start('api');
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-operator-api-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'acme.token'), PLANTED_TOKEN);
  const page = await readFile('docs/operator-api.md', 'utf8');
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(3);
  const script = blocks
    .join('\n')
    .replace('https://api.example', new URL(address).origin)
    .replaceAll(/(^|\()catalogue /gm, `$1node ${resolve('src/cli/catalogue.ts')} `);
  const env = {
    ...fleet.env,
    HOME: directory,
    PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}`,
  };
  const run = promisify(execFile);
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: directory, env });
  expect(stdout).toContain('{"list":[],"total":0,"next":null}');
  expect(stdout.match(/\+ application acme/g), 'the dry run, and the change').toHaveLength(2);
  expect(await readFile(join(directory, 'catalogue.yaml'), 'utf8')).toContain('https://acme.example/list');
});
