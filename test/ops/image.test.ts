import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { validate as validateDockerfile } from 'dockerfile-utils';
import { expect, test } from 'vitest';

const run = promisify(execFile);

test('the Dockerfile is valid, runs as a user by number, and copies only the program', async () => {
  const text = await readFile('Dockerfile', 'utf8');
  expect(validateDockerfile(text)).toEqual([]);
  expect(text).toMatch(/^USER \d+:\d+$/m);
  expect(text).toMatch(/^HEALTHCHECK /m);
  const ignore = (await readFile('.dockerignore', 'utf8')).split('\n').filter((line) => !/^(#|$)/.test(line));
  const allowed = ignore.flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  expect(ignore[0]).toBe('*');
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
  expect(allowed.toSorted()).toEqual([...new Set(copied)].toSorted());
});

test('the script of the image is valid, passes the arguments that the Dockerfile takes, and says how to call it', async () => {
  const script = await readFile('deploy/build-image', 'utf8');
  const names = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].map(([, name]) => name).toSorted();
  expect(names(script, /--build-arg "([A-Z]+)=/g)).toEqual(
    names(await readFile('Dockerfile', 'utf8'), /^ARG ([A-Z]+)=/gm),
  );
  const called = run('deploy/build-image', []);
  await expect(called).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('npm run image -- NAME'),
  });
});

test('the image has the command line as catalogue in its path, and starts each process by it', async () => {
  const link = /^RUN ln -s \/app\/(\S+) \/usr\/local\/bin\/catalogue /m;
  const text = await readFile('Dockerfile', 'utf8');
  const [, program = ''] = link.exec(text) ?? [];
  expect(text).toContain(`ENTRYPOINT ["/app/${program}"]`);
  const bin = await mkdtemp(join(tmpdir(), 'catalogue-image-'));
  try {
    await symlink(resolve(program), join(bin, 'catalogue'));
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    const { stdout } = await run('catalogue', ['--help'], { env, cwd: bin });
    expect(stdout).toContain('kyc-desk');
  } finally {
    await rm(bin, { recursive: true });
  }
});
