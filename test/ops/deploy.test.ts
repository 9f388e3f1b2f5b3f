import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { validate as validateDockerfile } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '#src/config.ts';

const run = promisify(execFile);

type Container = {
  name: string;
  args: string[];
  startupProbe?: unknown;
  livenessProbe?: unknown;
  readinessProbe?: unknown;
  ports?: { name: string; containerPort: number }[];
};
type Manifest = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec: {
    selector?: { matchLabels?: Record<string, string> };
    template: { metadata?: { labels: Record<string, string> }; spec: { containers: Container[] } };
  };
};

const KINDS = { ConfigMap, Deployment, Job, PodDisruptionBudget, ScaledObject, Service };

const DIRECTORY = 'deploy/kubernetes';
const readManifests = async (): Promise<Manifest[]> => {
  const kustomization = parse(await readFile(`${DIRECTORY}/kustomization.yaml`, 'utf8'));
  const files = (await readdir(DIRECTORY)).filter((name) => name !== 'kustomization.yaml');
  expect(kustomization.resources.toSorted(), 'every manifest is listed').toEqual(files.toSorted());
  const texts = await Promise.all(files.map((name) => readFile(`${DIRECTORY}/${name}`, 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
};
const manifests = await readManifests();
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);

test.each(manifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest] as const))(
  'the %s %s is what the Kubernetes API takes',
  (kind, _name, manifest) => {
    const Kind = KINDS[kind as keyof typeof KINDS];
    new Kind(manifest as never).validate();
  },
);

test('every role starts, lives and is ready by its probes, on ports that it has', () => {
  for (const { spec } of ofKind('Deployment')) {
    for (const container of spec.template.spec.containers) {
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
      const named = container.ports?.map(({ name }) => name);
      for (const probe of probes) {
        const { path, port } = (probe as { httpGet: { path: string; port: string } }).httpGet;
        expect(['/healthz', '/readyz']).toContain(path);
        expect(named).toContain(port);
      }
    }
  }
});

test('every budget and selector finds the pods of a deployment', () => {
  const pods = ofKind('Deployment').map(({ spec }) => spec.template.metadata?.labels);
  for (const { spec } of [...ofKind('PodDisruptionBudget'), ...ofKind('Deployment')]) {
    expect(pods).toContainEqual(spec.selector?.matchLabels);
  }
});

test('what the config map sets is a configuration that the program takes', () => {
  for (const { data } of ofKind('ConfigMap')) expect(() => readConfig(data)).not.toThrow();
});

test('the Dockerfile is one, runs as a user by number, and copies no more than the program', async () => {
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

test('docker-compose.yml is valid, starts every role, and holds no secret', async () => {
  await run(process.execPath, ['node_modules/dclint/bin/dclint.cjs', '--quiet', 'docker-compose.yml']);
  const text = await readFile('docker-compose.yml', 'utf8');
  const compose = parse(text, { merge: true });
  expect(Object.keys(compose.services).toSorted()).toEqual(
    ['api', 'board', 'migrate', 'postgres', 'redis', 'worker'].toSorted(),
  );
  expect(compose.services.worker.deploy.replicas).toBe(2);
  expect(compose.services.redis.command).toContain('noeviction');
  for (const role of ['worker', 'api', 'board', 'migrate']) {
    for (const [name, value] of Object.entries<string>(compose.services[role].environment)) {
      if (/PASSWORD|KEYS|USER/.test(name)) expect(value, name).toMatch(/^\$\{[A-Z_]+:\?/);
    }
  }
  expect(text).not.toMatch(/postgres:\/\/[^$\s]*:[^$@\s]+@/);
});
