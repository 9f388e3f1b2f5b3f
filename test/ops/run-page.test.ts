// The blocks of docs/run.md for containers: what can be run without a container.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '#src/config.ts';
import { readCompose } from '#test/ops/compose.ts';

const run = promisify(execFile);

/** A directory with the files of a clone that the blocks use. */
const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-run-page-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await cp('deploy', join(directory, 'deploy'), { recursive: true });
  return directory;
};

const readBlock = async (name: string): Promise<string> => {
  const page = await readFile('docs/run.md', 'utf8');
  const [, block] = new RegExp(`^\`\`\`sh ${name}\\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
  if (block === undefined) throw new Error(`docs/run.md has no block ${name}`);
  return block;
};

test('the block for Compose writes every variable that docker-compose.yml requires, in a form that it accepts', async () => {
  const directory = await makeDirectory();
  const lines = (await readBlock('compose')).split('\n').filter((line) => !line.startsWith('docker '));
  await run('bash', ['-euc', ['umask 022', ...lines].join('\n')], { cwd: directory });
  expect((await stat(join(directory, '.env'))).mode & 0o777, 'others may read it').toBe(0o600);
  const env = await readFile(join(directory, '.env'), 'utf8');
  const written = new Map(env.split('\n').map((line) => line.split(/=(.*)/s) as [string, string]));
  const compose = await readFile('docker-compose.yml', 'utf8');
  const required = [...compose.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name = '']) => name);
  for (const name of required) {
    expect(written.get(name), name).toBeTruthy();
    if (/PASSWORD/.test(name)) expect(written.get(name)).toMatch(/^[0-9a-f]{32}$/);
  }
  expect(() => readConfig({ ENCRYPTION_KEYS: written.get('ENCRYPTION_KEYS') })).not.toThrow();
});

test('the block for users of Redis writes an aclfile with each user and its password', async () => {
  const directory = await makeDirectory();
  await cp('docker-compose.yml', join(directory, 'docker-compose.yml'));
  await run('bash', ['-euc', await readBlock('redis-users')], { cwd: directory });
  const passwords = await readFile(join(directory, 'redis.env'), 'utf8');
  const acl = await readFile(join(directory, 'users.acl'), 'utf8');
  const users = [...acl.matchAll(/^ *user (?:catalogue_)?(\w+) on >([0-9a-f]{32}) ~\S/gm)];
  expect(
    users.map(([, user = '', password]) => `REDIS_PASSWORD_${user.toUpperCase()}=${password}`).toSorted(),
  ).toEqual(passwords.trim().split('\n').toSorted());
  expect(users).toHaveLength(8);
  expect(acl, 'somebody may empty Redis').toMatch(/^user admin on >[0-9a-f]{32} ~\* &\* \+@all$/m);
});

test('a Redis without a container is given the limits of docker-compose.yml, which keep large jobs away', async () => {
  const page = await readFile('docs/run.md', 'utf8');
  const { services } = await readCompose();
  const args = services.redis?.command ?? [];
  for (const name of ['proto-max-bulk-len', 'client-output-buffer-limit'])
    expect(page).toContain(`\`${name} ${args[args.indexOf(`--${name}`) + 1]}\``);
});

type Manifest = {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    replicas?: number;
    selector?: { matchLabels?: Record<string, string> };
    template?: { spec: { containers: { image: string }[] } };
  };
};

const build = async (directory: string, overlay: string): Promise<Manifest[]> => {
  const { stdout } = await run('kubectl', ['kustomize', overlay], { cwd: directory });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
};

const hasKubectl = await run('kubectl', ['version', '--client']).then(
  () => true,
  () => false,
);

// Debian 12 has no kubectl that knows components, so CI skips this too if there is none.
test.skipIf(!hasKubectl)(
  'the overlay for Kubernetes names the image of the registry everywhere, and each component adds its part',
  async () => {
    const directory = await makeDirectory();
    await run('bash', ['-euc', await readBlock('kubernetes')], { cwd: directory });
    const [fleet, base] = await Promise.all([
      build(directory, 'overlay'),
      build(directory, 'deploy/kubernetes'),
    ]);
    const images = fleet.flatMap(
      ({ spec }) => spec?.template?.spec.containers.map(({ image }) => image) ?? [],
    );
    expect(images.length).toBeGreaterThan(6);
    for (const image of images) expect(image).toMatch(/^registry\.example\/game-catalogue:\d/);
    const replicas = (manifests: Manifest[]) =>
      manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'catalogue-worker')
        ?.spec.replicas;
    expect([replicas(base), replicas(fleet)]).toEqual([2, undefined]);
    const added = fleet.map(({ kind }) => kind).filter((kind) => !base.some((each) => each.kind === kind));
    expect(added.toSorted()).toEqual(['PrometheusRule', 'ScaledObject', 'ServiceMonitor']);
    const monitor = fleet.find(({ kind }) => kind === 'ServiceMonitor');
    const services = fleet.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata);
    expect(services.find(({ name }) => name === 'catalogue-metrics')?.labels).toEqual(
      monitor?.spec.selector?.matchLabels,
    );
  },
);
