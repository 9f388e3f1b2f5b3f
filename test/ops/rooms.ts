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
  'src/contract': { imports: [], packages: ['zod', 'zod-openapi'] },
  'src/rules': { imports: ['src/contract'], packages: ['node:crypto'] },
  'db/schema': { imports: ['src/contract'], packages: ['drizzle-orm'] },
  db: { imports: ['src/errors.ts', 'src/contract', 'src/rules'], types: ['db/schema'] },
  'src/sealing': { imports: ['src/errors.ts', 'src/contract'], types: ['db', 'db/schema'] },
  'src/webhooks': { imports: ['src/errors.ts', 'src/contract', 'src/rules'] },
  'src/kyc': { imports: ['src/errors.ts', 'src/contract', 'db', 'src/sealing'], types: ['db/schema'] },
  'src/queue': { imports: ['src/errors.ts', 'src/rules'] },
  'src/tracing': { imports: ['src/errors.ts', 'src/queue'] },
  'src/ingest': {
    imports: [
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db',
      'src/sealing',
      'src/webhooks',
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
      'src/kyc',
      'src/queue',
      'src/ingest',
    ],
  },
  'src/check': { imports: ['src/errors.ts', 'src/contract', 'src/sealing', 'src/webhooks', 'src/kyc'] },
  'src/sample-application': { imports: ['src/contract', 'src/webhooks'] },
  'src/api': { imports: ['src/errors.ts', 'src/contract', 'db'] },
  'src/board': { imports: ['src/errors.ts'] },
  'src/embedded': { imports: ['src/errors.ts', 'db'] },
  'src/metrics': {
    imports: [
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db',
      'src/webhooks',
      'src/queue',
      'src/tracing',
      'src/ingest',
    ],
  },
  'src/logger.ts': { imports: ['src/errors.ts'] },
  'src/config.ts': { imports: ['src/errors.ts', 'src/sealing', 'src/webhooks', 'src/queue'] },
  'src/roles': {
    imports: [
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db',
      'src/sealing',
      'src/webhooks',
      'src/kyc',
      'src/queue',
      'src/tracing',
      'src/ingest',
      'jobs',
      'src/api',
      'src/board',
      'src/embedded',
      'src/metrics',
      'src/logger.ts',
      'src/config.ts',
    ],
  },
  'src/cli': {
    imports: [
      'src/errors.ts',
      'src/contract',
      'src/rules',
      'db',
      'src/sealing',
      'src/webhooks',
      'src/kyc',
      'src/queue',
      'src/ingest',
      'jobs',
      'src/check',
      'src/sample-application',
      'src/api',
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
};
