/**
 * The rooms of the code, from bottom to top, with what each may import besides itself. A path covers the files
 * below it. A room lists only rooms above its own line, so rooms cannot form a circle.
 * `npm run lint` checks every import against this table; docs/architecture.md explains it.
 */
export type Room = {
  imports: readonly string[];
  /** Imports of types only. */
  types?: readonly string[];
  /** npm packages and Node modules. Absent: any. */
  packages?: readonly string[];
};

export const ROOMS: Readonly<Record<string, Room>> = {
  'package.json': { imports: [] },
  'src/errors.ts': { imports: [] },
  'src/read-or-create-file.ts': { imports: [] },
  'src/lib': { imports: [] },
  'src/contract': { imports: [], packages: ['zod', 'zod-openapi'] },
  'src/rules': { imports: ['src/contract'], packages: ['node:crypto', 'node:zlib'] },
  'db/schema': { imports: ['src/contract'], packages: ['drizzle-orm'] },
  db: { imports: ['src/errors.ts', 'src/contract', 'src/rules'], types: ['db/schema'] },
  'src/approvals': { imports: ['src/errors.ts', 'src/contract', 'db'], types: ['db/schema'] },
  'src/review': {
    imports: ['src/errors.ts', 'src/contract', 'db', 'src/approvals'],
    types: ['db/schema', 'src/rules'],
  },
  'src/sealing': {
    imports: ['src/errors.ts', 'src/read-or-create-file.ts', 'src/contract'],
    types: ['db', 'db/schema'],
  },
  'src/webhooks': { imports: ['src/errors.ts', 'src/contract', 'src/rules'] },
  'src/events': {
    imports: ['src/errors.ts', 'src/contract', 'src/rules', 'db', 'src/sealing', 'src/webhooks'],
    types: ['db/schema'],
  },
  'src/kyc': {
    imports: ['src/errors.ts', 'src/lib', 'src/contract', 'db', 'src/sealing', 'src/approvals'],
    types: ['db/schema'],
  },
  'src/check': {
    imports: ['src/errors.ts', 'src/contract', 'src/rules', 'src/sealing', 'src/webhooks', 'src/kyc'],
  },
  'src/queue': { imports: ['src/errors.ts', 'src/rules'] },
  'src/pictures': {
    imports: ['src/errors.ts', 'src/lib', 'src/contract', 'src/rules', 'db', 'src/webhooks', 'src/queue'],
  },
  'src/tracing': { imports: ['src/errors.ts', 'src/queue'] },
  'src/ingest': {
    imports: [
      'src/errors.ts',
      'src/lib',
      'src/contract',
      'src/rules',
      'db',
      'src/sealing',
      'src/webhooks',
      'src/events',
      'src/kyc',
      'src/queue',
      'src/tracing',
    ],
  },
  jobs: {
    imports: [
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db/client.ts',
      'db/queries',
      'src/sealing',
      'src/webhooks',
      'src/events',
      'src/kyc',
      'src/check',
      'src/queue',
      'src/pictures',
      'src/ingest',
    ],
  },
  'src/actions': {
    imports: [
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db',
      'src/events',
      'src/queue',
      'src/ingest',
      'src/kyc',
    ],
  },
  'src/sample-application': { imports: ['src/contract', 'src/webhooks'] },
  'src/http': { imports: [], packages: ['fastify', 'node:http', 'node:net'] },
  'src/api': {
    imports: ['src/errors.ts', 'src/lib', 'src/contract', 'src/rules', 'db', 'src/events', 'src/http'],
  },
  'src/identity': { imports: ['src/errors.ts', 'src/lib', 'src/contract', 'src/rules', 'db'] },
  'src/console': {
    imports: [
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db',
      'src/webhooks',
      'src/events',
      'src/queue',
      'src/ingest',
      'src/actions',
      'src/check',
      'src/identity',
      'src/approvals',
      'src/review',
      'src/http',
    ],
  },
  'src/kyc-desk': {
    imports: [
      'src/errors.ts',
      'src/contract',
      'db',
      'src/sealing',
      'src/kyc',
      'src/queue',
      'src/ingest',
      'src/identity',
      'src/approvals',
      // The shell of the console: none of its pages.
      'src/console/answers.ts',
      'src/console/html.ts',
      'src/console/layout.ts',
      'src/console/options.ts',
      'src/console/query.ts',
      'src/console/requests.ts',
      'src/console/sign-in.ts',
      'src/console/site.ts',
    ],
  },
  'src/embedded': { imports: ['src/errors.ts', 'src/read-or-create-file.ts', 'db'] },
  'src/metrics': {
    imports: [
      'src/errors.ts',
      'src/lib',
      'src/contract',
      'src/rules',
      'db',
      'src/webhooks',
      'src/queue',
      'src/pictures',
      'src/tracing',
      'src/ingest',
      'src/api',
      'src/http',
    ],
  },
  'src/logger.ts': { imports: ['src/errors.ts', 'src/lib'] },
  'src/config-values.ts': { imports: ['src/contract', 'src/webhooks'], packages: ['zod'] },
  'src/config.ts': {
    imports: [
      'src/errors.ts',
      'src/config-values.ts',
      'src/contract',
      'db/roles.ts',
      'src/sealing',
      'src/queue',
    ],
  },
  'src/roles': {
    imports: [
      'src/config-values.ts',
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db',
      'src/sealing',
      'src/webhooks',
      'src/events',
      'src/kyc',
      'src/queue',
      'src/pictures',
      'src/tracing',
      'src/ingest',
      'jobs',
      'src/api',
      'src/identity',
      'src/approvals',
      'src/console',
      'src/kyc-desk',
      'src/embedded',
      'src/metrics',
      'src/logger.ts',
      'src/config.ts',
    ],
  },
  'src/cli': {
    imports: [
      'src/errors.ts',
      'src/lib',
      'src/contract',
      'src/rules',
      'db',
      'src/sealing',
      'src/webhooks',
      'src/events',
      'src/approvals',
      'src/review',
      'src/kyc',
      'src/queue',
      'src/ingest',
      'jobs',
      'src/actions',
      'src/check',
      'src/sample-application',
      'src/api',
      'src/identity',
      'src/embedded',
      'src/logger.ts',
      'src/config.ts',
      'src/roles',
      'package.json',
    ],
  },
};

/** Packages that only these rooms and files load at run time; their types are free. */
export const PACKAGE_OWNERS: Readonly<Record<string, readonly string[]>> = {
  'drizzle-orm': ['db/schema', 'db/migrate.ts'],
  sharp: ['src/pictures/decoder-process.ts', 'src/sample-application/pictures.ts', 'test'],
};
