import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { constants } from 'node:os';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import {
  PrometheusRule,
  ServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '#src/config.ts';
import { manifests, ofKind } from '#test/ops/manifests.ts';
import { until } from '#test/support/until.ts';

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

test("the operator's pod ends at SIGTERM: as process 1, a program without a handler of its own ignores it", async () => {
  const operator = ofKind('Deployment').find(({ metadata }) => metadata.name === 'catalogue-operator');
  const [file = '', ...args] = operator?.spec.template.spec.containers[0]?.command ?? [];
  const child = spawn(file, args, { stdio: 'ignore', detached: true });
  const exited = once(child, 'exit');
  await once(child, 'spawn');
  const { pid = 0 } = child;
  // What it has started stays in its group.
  onTestFinished(() => void process.kill(-pid, 'SIGKILL'));
  await until(
    'it has a handler',
    async () => {
      const [, caught = '0'] = /^SigCgt:\s*(\w+)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
      return (BigInt(`0x${caught}`) & (1n << BigInt(constants.signals.SIGTERM - 1))) !== 0n;
    },
    10_000,
  );
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});

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

test('a command in the pod of the operator has a place for what it reads from stdin', () => {
  const [pod] = ofKind('Deployment').filter(({ metadata }) => metadata.name === 'catalogue-operator');
  expect(pod?.spec.template.spec).toMatchObject({
    containers: [{ volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }] }],
    volumes: [{ name: 'tmp', emptyDir: {} }],
  });
});

test('migrate waits half an hour for a Postgres that comes up', () => {
  const [job] = ofKind('Job');
  const { backoffLimit = 6 } = job?.spec ?? {};
  const waits = Array.from({ length: backoffLimit }, (_, n) => Math.min(10 * 2 ** n, 360));
  expect(waits.reduce((sum, seconds) => sum + seconds, 0)).toBeGreaterThanOrEqual(1_800);
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

test('network policies close every pod, and open webhooks to those that call them', () => {
  const policies = ofKind('NetworkPolicy') as unknown as {
    metadata: { name: string };
    spec: {
      podSelector: { matchLabels: Record<string, string>; matchExpressions?: { values: string[] }[] };
      policyTypes: string[];
      egress?: { to: { ipBlock?: { except?: string[] } }[] }[];
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
  // They bound a stolen process, which checks no address itself: some lead to services of the cloud.
  const closed = new BlockList();
  const familyOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4');
  for (const { to } of webhooks?.spec.egress ?? [])
    for (const network of to.flatMap(({ ipBlock }) => ipBlock?.except ?? [])) {
      const [address = '', prefix] = network.split('/');
      closed.addSubnet(address, Number(prefix), familyOf(address));
    }
  const ofClouds = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192'];
  const others = ['10.0.0.1', '127.0.0.1', '172.16.0.1', '192.168.0.1', '198.18.0.1'];
  // Of Teredo, and of 6to4 with 10.0.0.1 in it.
  const embedded = ['2001::a00:1', '2002:a00:1::1'];
  const reached = [...ofClouds, ...others, ...embedded].filter(
    (address) => !closed.check(address, familyOf(address)),
  );
  expect(reached).toEqual([]);
  expect(closed.check('8.8.8.8')).toBe(false);
});
