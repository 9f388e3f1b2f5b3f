import { execFile } from 'node:child_process';
import { glob, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import {
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { validate as validateDockerfile } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '#src/config.ts';
import { ROLES, readCompose } from '#test/ops/compose.ts';

const run = promisify(execFile);

type Container = {
  name: string;
  args: string[];
  startupProbe?: unknown;
  livenessProbe?: unknown;
  readinessProbe?: unknown;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  envFrom?: { secretRef?: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
};
type Manifest = {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec: {
    selector?: { matchLabels?: Record<string, string> };
    template: {
      metadata?: { labels: Record<string, string> };
      spec: { containers: Container[]; terminationGracePeriodSeconds?: number };
    };
  };
};

const KINDS = {
  ConfigMap,
  Deployment,
  Job,
  NetworkPolicy,
  PodDisruptionBudget,
  PrometheusRule,
  ScaledObject,
  Service,
  ServiceMonitor,
};

const DIRECTORY = 'deploy/kubernetes';
const COMPONENTS = ['keda', 'prometheus-operator'];

/** The manifests of the base and of its components, as they are written. */
const readManifests = async (): Promise<Manifest[]> => {
  const read = async (directory: string): Promise<Manifest[]> => {
    const kustomization = parse(await readFile(`${directory}/kustomization.yaml`, 'utf8'));
    const files = await Array.fromAsync(glob(`${directory}/*.yaml`));
    const names = files.map((file) => basename(file)).filter((name) => name !== 'kustomization.yaml');
    expect(kustomization.resources.toSorted(), 'every manifest is listed').toEqual(names.toSorted());
    const texts = await Promise.all(names.map((name) => readFile(`${directory}/${name}`, 'utf8')));
    return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  };
  const all = [DIRECTORY, ...COMPONENTS.map((name) => `${DIRECTORY}/${name}`)].map(read);
  return (await Promise.all(all)).flat();
};
const manifests = await readManifests();
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);

test.each(manifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest] as const))(
  'the %s %s is valid for the Kubernetes API',
  (kind, _name, manifest) => {
    const Kind = KINDS[kind as keyof typeof KINDS];
    new Kind(manifest as never).validate();
  },
);

test('the startup, liveness and readiness probes of every process use ports that it has', () => {
  for (const { spec } of ofKind('Deployment')) {
    for (const container of spec.template.spec.containers) {
      // The operator's pod serves nothing.
      if (container.name === 'operator') continue;
      const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
      const named = container.ports?.map(({ name }) => name);
      for (const probe of probes) {
        const { path, port } = (probe as { httpGet: { path: string; port: string } }).httpGet;
        expect(['/healthz', '/readyz', '/readyz?only=database']).toContain(path);
        expect(named).toContain(port);
      }
    }
  }
});

/** Maximum time that the program takes to stop (src/cli/kit/run-until-signal.ts). */
const STOP_SECONDS = 40;

test('a server listens until no call is routed to it, and then has the time to stop', () => {
  for (const { spec } of ofKind('Deployment')) {
    const { containers, terminationGracePeriodSeconds = 30 } = spec.template.spec;
    const [container] = containers;
    const isCalled = container?.ports?.some(({ name }) => name === 'http');
    const waits = container?.lifecycle?.preStop?.sleep?.seconds ?? 0;
    expect(waits, container?.name).toBeGreaterThanOrEqual(isCalled ? 5 : 0);
    expect(terminationGracePeriodSeconds, container?.name).toBeGreaterThan(waits + STOP_SECONDS);
  }
});

test('the API stays ready while Redis is unreachable: it answers calls without Redis', async () => {
  const api = ofKind('Deployment').find(({ metadata }) => metadata.name === 'catalogue-api');
  expect(api?.spec.template.spec.containers[0]?.readinessProbe).toMatchObject({
    httpGet: { path: '/readyz?only=database', port: 'http' },
  });
  const { services } = await readCompose();
  expect(services.api?.healthcheck?.test.join(' ')).toContain(':8080/readyz?only=database');
});

test('every pod and service gets the secrets that it uses, and no other', async () => {
  const given = [...ofKind('Deployment'), ...ofKind('Job')].flatMap(({ spec }) =>
    spec.template.spec.containers.map(({ name, envFrom = [] }) => [
      name,
      envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []),
    ]),
  );
  expect(Object.fromEntries(given)).toEqual({
    worker: ['catalogue-worker', 'catalogue-keys'],
    api: ['catalogue-api'],
    'operator-api': ['catalogue-operator-api'],
    console: ['catalogue-console'],
    'kyc-desk': ['catalogue-kyc-desk', 'catalogue-keys'],
    media: ['catalogue-media'],
    migrate: ['catalogue-owner'],
    operator: ['catalogue-operator', 'catalogue-keys'],
  });
  const { services } = await readCompose();
  const secrets = (role: string) =>
    Object.keys(services[role]?.environment ?? {}).filter((name) =>
      /^(ENCRYPTION_KEYS|OIDC_CLIENT_SECRET|DATABASE_URL)/.test(name),
    );
  expect([...ROLES, 'operator'].map(secrets)).toEqual([
    ['DATABASE_URL_WORKER', 'ENCRYPTION_KEYS'],
    ['DATABASE_URL_API'],
    ['DATABASE_URL_API', 'DATABASE_URL_OPERATOR_API'],
    ['DATABASE_URL_CONSOLE', 'OIDC_CLIENT_SECRET'],
    ['DATABASE_URL_KYC_DESK', 'ENCRYPTION_KEYS', 'OIDC_CLIENT_SECRET'],
    ['DATABASE_URL_MEDIA'],
    [
      'DATABASE_URL',
      ...['WORKER', 'API', 'CONSOLE', 'MEDIA', 'KYC_DESK', 'OPERATOR', 'OPERATOR_API'].map(
        (role) => `DATABASE_URL_${role}`,
      ),
    ],
    ['DATABASE_URL_OPERATOR', 'ENCRYPTION_KEYS'],
  ]);
});

/** Variables of .env.example that the image or docker-compose.yml sets, or that a container does not use. */
const OF_CONTAINERS =
  /^(DATABASE_URL|REDIS_URL|CATALOGUE_HOME|PAGER|(API|CONSOLE|KYC_DESK|METRICS)_(HOST|PORT))$/;

test('docker-compose.yml passes each variable of .env.example to the services that use it', async () => {
  const example = await readFile('.env.example', 'utf8');
  const names = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
  const { services } = await readCompose();
  const receivers = (name: string) =>
    [...ROLES, 'operator'].filter((role) => services[role]?.environment?.[name] !== undefined);
  const missing = names.filter((name) => !OF_CONTAINERS.test(name) && receivers(name).length === 0);
  expect(missing).toEqual([]);
  const callers = ['worker', 'media', 'operator'];
  for (const name of names.filter((each) => each.startsWith('WEBHOOK_')))
    expect(receivers(name), name).toEqual(expect.arrayContaining(callers));
  expect(receivers('WEBHOOK_PROXY'), 'its password').toEqual(callers);
  expect(receivers('QUEUE_PREFIX')).toEqual([...ROLES, 'operator']);
  expect(receivers('CONSOLE_URL')).toEqual(['console', 'operator']);
});

test('anyone may call the sites and the API, and only the programs of operators the operator API', () => {
  type Policy = {
    podSelector: { matchLabels?: object; matchExpressions?: { values: string[] }[] };
    ingress?: { from?: object[]; ports: { port: unknown }[] }[];
  };
  const callers = ofKind('NetworkPolicy').flatMap(({ spec }) => {
    const { podSelector, ingress = [] } = spec as unknown as Policy;
    const pods = podSelector.matchExpressions?.[0]?.values ?? [
      Object.entries(podSelector.matchLabels ?? {}).find(([name]) => name.endsWith('/component'))?.[1],
    ];
    return ingress.flatMap(({ from = [], ports }) =>
      ports.some(({ port }) => port === 'http') ? [[pods, from]] : [],
    );
  });
  const operations = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'operations' } } };
  expect(callers).toEqual([
    [['api', 'console', 'kyc-desk'], []],
    [['operator-api'], [operations]],
  ]);
});

test('every budget and selector finds the pods of a deployment', () => {
  const pods = ofKind('Deployment').map(({ spec }) => spec.template.metadata?.labels);
  for (const { spec } of [...ofKind('PodDisruptionBudget'), ...ofKind('Deployment')]) {
    expect(pods).toContainEqual(spec.selector?.matchLabels);
  }
});

test('the config map is a valid configuration of the program', () => {
  for (const { data } of ofKind('ConfigMap')) expect(() => readConfig(data)).not.toThrow();
});

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

test('docker-compose.yml is valid, starts every process, and contains no secret', async () => {
  await run(process.execPath, ['node_modules/dclint/bin/dclint.cjs', '--quiet', 'docker-compose.yml']);
  const text = await readFile('docker-compose.yml', 'utf8');
  const { services } = await readCompose();
  expect(Object.keys(services).toSorted()).toEqual([...ROLES, 'operator', 'postgres', 'redis'].toSorted());
  expect(services.worker?.deploy?.replicas).toBe(2);
  expect(services.redis?.command).toContain('noeviction');
  for (const role of ROLES) {
    for (const [name, value] of Object.entries(services[role]?.environment ?? {})) {
      if (/PASSWORD|KEYS|USER/.test(name)) expect(value, name).toMatch(/^\$\{[A-Z_]+:\?/);
      if (/^(DATABASE|REDIS)_URL/.test(name)) expect(value, name).toMatch(/:\$\{[A-Z_]+:\?[^}]+\}@/);
    }
  }
  expect(text).not.toMatch(/postgres:\/\/[^$\s]*:[^$@\s]+@/);
});

test('our containers are read-only, without capabilities, and cannot gain privileges', async () => {
  const { services } = await readCompose();
  for (const role of [...ROLES, 'operator'])
    expect({ role, ...services[role] }).toMatchObject({
      role,
      read_only: true,
      cap_drop: ['ALL'],
      pids_limit: 256,
      security_opt: ['no-new-privileges:true'],
    });
  expect(services.redis?.command).toEqual(
    expect.arrayContaining(['--aclfile', '--proto-max-bulk-len', '--client-output-buffer-limit']),
  );
  for (const role of [...ROLES, 'operator']) {
    const user = role === 'migrate' ? 'operator' : role.replace('-', '_');
    expect(services[role]?.environment?.REDIS_URL).toMatch(
      new RegExp(`^redis://catalogue_${user}:\\$\\{REDIS_PASSWORD_${user.toUpperCase()}:`),
    );
  }
  for (const { spec } of [...ofKind('Deployment'), ...ofKind('Job')])
    expect(spec.template.spec.containers[0]).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
});

test('network policies close every pod, and open webhooks to those that call them', () => {
  const policies = ofKind('NetworkPolicy') as unknown as {
    metadata: { name: string };
    spec: {
      podSelector: { matchLabels: Record<string, string>; matchExpressions?: { values: string[] }[] };
      policyTypes: string[];
      egress?: { to: unknown[] }[];
    };
  }[];
  const all = policies.find(({ metadata }) => metadata.name === 'catalogue');
  expect(all?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
  for (const { spec } of [...ofKind('Deployment'), ...ofKind('Job')])
    expect(spec.template.metadata?.labels).toMatchObject(all?.spec.podSelector.matchLabels ?? { none: '' });
  // A port without an address would be open to every destination.
  for (const { egress = [] } of policies.map(({ spec }) => spec))
    for (const { to } of egress) expect(to).not.toHaveLength(0);
  const webhooks = policies.find(({ metadata }) => metadata.name === 'catalogue-webhooks');
  expect(webhooks?.spec.podSelector.matchExpressions?.[0]?.values).toEqual(['worker', 'media', 'operator']);
});
