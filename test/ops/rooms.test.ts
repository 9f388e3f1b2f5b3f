import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { listForbiddenImports } from '#test/ops/check-imports.ts';
import { ROOMS } from '#test/ops/rooms.ts';

const VALUE_FORMS: ((from: string) => string)[] = [
  (from) => `import { x } from '${from}';\nx();`,
  (from) => `import x, { type Y } from '${from}';\nx as Y;`,
  (from) => `import * as x from '${from}';\nx;`,
  (from) => `import '${from}';`,
  (from) => `export const x = async () => { await using y = await import('${from}'); return y; };`,
  (from) => `const x = require('${from}');`,
  (from) => `export { x } from '${from}';`,
  (from) => `export * from '${from}';`,
];

const TYPE_FORMS: ((from: string) => string)[] = [
  (from) => `import type { X } from '${from}';\nexport type Y = X;`,
  (from) => `import { type X } from '${from}';\nexport type Y = X;`,
  (from) => `export type { X } from '${from}';`,
  (from) => `export type * from '${from}';`,
  (from) => `export type X = import('${from}').X;`,
];

const FORBIDDEN: Record<string, string[]> = {
  'src/errors.ts': ['#src/config.ts'],
  'src/contract/a.ts': ['#src/errors.ts', '#db/client.ts', 'postgres', './words.ts'],
  'src/rules/a.ts': ['#db/client.ts', '#src/queue/producer.ts', '#src/config.ts', 'node:fs'],
  'db/queries/a.ts': [
    '#src/ingest/finish-run.ts',
    '#src/webhooks/client.ts',
    '#jobs/tick.ts',
    '../client.ts',
  ],
  'src/sealing/a.ts': ['#src/kyc/record.ts', '#src/queue/producer.ts'],
  'src/webhooks/a.ts': ['#db/queries/games.ts', '#src/kyc/record.ts'],
  'src/kyc/a.ts': ['#src/queue/producer.ts', '#src/webhooks/client.ts', '../errors.ts'],
  'src/queue/a.ts': [
    '#src/ingest/finish-run.ts',
    '#src/webhooks/client.ts',
    '#db/client.ts',
    '#jobs/tick.ts',
  ],
  'src/ingest/a.ts': ['#src/roles/worker.ts', '#src/api/app.ts', '#jobs/tick.ts'],
  'jobs/a.ts': ['#src/config.ts', '#db/schema/games.ts', '#src/roles/worker.ts'],
  'src/api/a.ts': ['#src/webhooks/client.ts', '#src/queue/producer.ts', '#jobs/tick.ts'],
  'src/identity/a.ts': ['#src/queue/producer.ts', '#src/console/app.ts'],
  'src/console/a.ts': ['#src/sealing/key-ring.ts', '#src/kyc/record.ts', '#src/roles/api.ts'],
  'src/roles/a.ts': ['#src/cli/kit/command.ts', '#src/sample-application/start.ts'],
  'src/new-room/a.ts': ['#src/errors.ts', 'zod'],
};

const ALLOWED: Record<string, string[]> = {
  'src/contract/a.ts': ['#src/contract/text.ts', 'zod'],
  'src/rules/a.ts': ['#src/contract/text.ts', '#src/rules/mapping.ts', 'node:crypto'],
  'src/ingest/a.ts': ['#src/rules/mapping.ts', '#db/queries/games.ts', 'bullmq'],
  'src/roles/a.ts': ['#src/api/app.ts', '#db/client.ts'],
  'src/cli/a.ts': ['#src/roles/worker.ts'],
  'db/migrate.ts': ['drizzle-orm/postgres-js'],
};

/** Imports that are allowed for types and forbidden for values. */
const TYPES_ONLY: Record<string, string[]> = {
  'src/sealing/a.ts': ['#db/client.ts', '#db/schema/applications.ts'],
  'db/queries/a.ts': ['#db/schema/games.ts', 'drizzle-orm'],
  'db/migrate.ts': ['#db/schema/games.ts'],
};

const pairs = (table: Record<string, string[]>): [path: string, from: string][] =>
  Object.entries(table).flatMap(([path, list]) => list.map((from): [string, string] => [path, from]));

test.each(pairs(FORBIDDEN))('%s must not import %s in any form', (path, from) => {
  for (const form of [...VALUE_FORMS, ...TYPE_FORMS]) {
    expect(listForbiddenImports(path, form(from)), form(from)).toHaveLength(1);
  }
});

test.each(pairs(ALLOWED))('%s may import %s in every form', (path, from) => {
  for (const form of [...VALUE_FORMS, ...TYPE_FORMS]) {
    expect(listForbiddenImports(path, form(from)), form(from)).toEqual([]);
  }
});

test.each(pairs(TYPES_ONLY))('%s may import types of %s, and nothing else', (path, from) => {
  for (const form of TYPE_FORMS) expect(listForbiddenImports(path, form(from)), form(from)).toEqual([]);
  for (const form of VALUE_FORMS) {
    expect(listForbiddenImports(path, form(from)), form(from)).toHaveLength(1);
  }
});

test('a dynamic import of a computed path is refused: its target cannot be checked', () => {
  expect(listForbiddenImports('src/cli/a.ts', 'const load = (x: string) => import(x);')).toHaveLength(1);
});

test('a room imports only rooms above its own line, so that rooms form no circle', () => {
  const order = Object.keys(ROOMS);
  const roomOf = (path: string) =>
    order.filter((room) => `${path}/`.startsWith(`${room}/`)).toSorted((a, b) => b.length - a.length)[0] ??
    '';
  for (const [room, { imports, types = [] }] of Object.entries(ROOMS)) {
    for (const each of [...imports, ...types]) {
      expect(order.indexOf(roomOf(each)), `${room} imports ${each}`).toBeGreaterThanOrEqual(0);
      expect(order.indexOf(roomOf(each)), `${room} imports ${each}`).toBeLessThan(order.indexOf(room));
    }
  }
});

/** Runs a command in a folder of these files. @returns its exit code and what it printed */
const runOn = async (files: Record<string, string>, args: readonly string[]) => {
  const root = await mkdtemp(join(tmpdir(), 'catalogue-rooms-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    return { status, output: `${stdout}${stderr}` };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
};

test('the check fails on a forbidden import and names it', async () => {
  const check = [resolve('test/ops/check-imports.ts')];
  const clean = await runOn({ 'src/rules/a.ts': "import '#src/contract/text.ts';\n" }, check);
  expect(clean).toEqual({ status: 0, output: '' });
  const broken = await runOn({ 'src/rules/a.ts': "import '#db/client.ts';\n" }, check);
  expect(broken.status).toBe(1);
  expect(broken.output).toContain('src/rules/a.ts imports #db/client.ts\n');
});

test('the linter fails on a circle of imports, of types too', async () => {
  const { vcs: _, ...rules } = JSON.parse(await readFile('biome.json', 'utf8'));
  const project = {
    'biome.json': JSON.stringify(rules),
    'package.json': JSON.stringify({ type: 'module', imports: { '#src/*': './src/*' } }),
  };
  const lint = [resolve('node_modules/@biomejs/biome/bin/biome'), 'lint', '--error-on-warnings'];
  const a = "import { b } from '#src/b.ts';\n\nexport const a = b;\n";
  expect(await runOn({ ...project, 'src/a.ts': a, 'src/b.ts': 'export const b = 1;\n' }, lint)).toMatchObject(
    {
      status: 0,
    },
  );
  const b = "import type { A } from '#src/a.ts';\n\nexport const b = 1 as A;\n";
  const circle = await runOn({ ...project, 'src/a.ts': a, 'src/b.ts': b }, lint);
  expect(circle.status).toBe(1);
  expect(circle.output).toContain('noImportCycles');
});

test('npm run check and .ci/run check the imports', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(scripts.check).toContain('npm run lint');
  expect(scripts.lint).toBe('biome check --error-on-warnings . && node test/ops/check-imports.ts');
  expect(await readFile('.ci/run', 'utf8')).toContain('npm run --silent lint');
});
