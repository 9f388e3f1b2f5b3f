import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROLES, readCompose } from '#test/ops/compose.ts';
import { ofKind } from '#test/ops/manifests.ts';

const run = promisify(execFile);

/** Variables of .env.example that the image or docker-compose.yml sets, or that a container does not use. */
const OF_CONTAINERS =
  /^(DATABASE_URL|REDIS_URL|CATALOGUE_HOME|PAGER|(API|CONSOLE|KYC_DESK|METRICS)_(HOST|PORT))$/;

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
  expect(receivers('KYC_DESK_URL'), 'links of officers').toEqual(['console', 'kyc-desk', 'operator']);
  // The person at the machine; with an empty value the audit log would name the user of the image.
  expect(services.operator?.environment?.CATALOGUE_OPERATOR).toBe(
    `\${CATALOGUE_OPERATOR:-\${USER:-required}}`,
  );
});

test('each service that calls AWS has credentials of its own: those of a decoder of pictures open no KYC record', async () => {
  const { services } = await readCompose();
  const credentials = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
  const given = [...ROLES, 'operator'].flatMap((role) => {
    const values = credentials.map((name) => services[role]?.environment?.[name]);
    if (values.every((value) => value === undefined)) return [];
    const suffix = role.toUpperCase().replace('-', '_');
    expect(values).toEqual(credentials.map((name) => `\${${name}_${suffix}:-}`));
    return [role];
  });
  // KMS; KMS; PICTURE_STORE; both.
  expect(given).toEqual(['worker', 'kyc-desk', 'media', 'operator']);
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

test('our containers are read-only, without capabilities, cannot gain privileges, and leave no memory on the disk', async () => {
  const { services } = await readCompose();
  for (const role of [...ROLES, 'operator'])
    expect({ role, ...services[role] }).toMatchObject({
      role,
      read_only: true,
      cap_drop: ['ALL'],
      pids_limit: 256,
      ulimits: { core: 0 },
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
