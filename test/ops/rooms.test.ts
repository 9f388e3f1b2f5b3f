import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const BIOME = resolve('node_modules/@biomejs/biome/bin/biome');

/** What the linter says, under the project's own rules, of a tree of these files: path -> rules broken. */
const lint = async (files: Record<string, string>): Promise<Map<string, string>> => {
  const root = await mkdtemp(join(tmpdir(), 'catalogue-rooms-'));
  try {
    const rules = JSON.parse(await readFile('biome.json', 'utf8'));
    await writeFile(join(root, 'biome.json'), JSON.stringify({ ...rules, vcs: { enabled: false } }));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const args = [BIOME, 'lint', '--reporter=json', '--max-diagnostics=none'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { category: string; location: { path: string }; message: string }[];
    };
    const broken = new Map(Object.keys(files).map((path) => [path, '']));
    for (const { category, location, message } of diagnostics) {
      broken.set(location.path, `${broken.get(location.path)}${category}: ${message}\n`);
    }
    return broken;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
};

/** Every way to import: each is a file of its own. */
const FORMS: ((specifier: string) => string)[] = [
  (specifier) => `import { x } from '${specifier}';\n\nx();\n`,
  (specifier) => `import type { X } from '${specifier}';\n\nexport type Y = X;\n`,
  (specifier) => `export const x = import('${specifier}');\n`,
  (specifier) => `export { x } from '${specifier}';\n`,
];
const inEveryForm = (room: string, specifiers: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    specifiers.flatMap((specifier, n) =>
      FORMS.map((form, kind) => [`${room}/file-${n}-${kind}.ts`, form(specifier)] as const),
    ),
  );

const FORBIDDEN: Record<string, string[]> = {
  'src/contract': ['#src/errors.ts', '#db/client.ts'],
  'src/catalogue': ['#db/client.ts', '#src/queue/producer.ts', '#src/config.ts'],
  'src/webhooks': ['#db/queries/games.ts', '#src/kyc/record.ts'],
  'src/kyc': ['#src/queue/producer.ts', '#src/webhooks/client.ts', '../errors.ts'],
  'src/queue': ['#src/ingest/finish-run.ts', '#src/roles/worker.ts'],
  'src/runs': ['#src/roles/worker.ts', '#src/api/app.ts', '#src/metrics/webhook-calls.ts'],
  'src/api': ['#src/webhooks/client.ts', '#src/queue/producer.ts', '#jobs/tick.ts'],
  'src/board': ['#db/client.ts', '#src/queue/producer.ts'],
  'src/roles': ['#src/cli/frame.ts', '#src/sample-application/start.ts'],
  jobs: ['#src/config.ts', '#db/schema/games.ts', '#src/roles/worker.ts'],
  db: ['#src/ingest/finish-run.ts', '#src/webhooks/client.ts', '#jobs/tick.ts'],
};

test('npm run check, whose part the linter is, fails where a room imports what it must not', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(scripts.check).toContain('npm run lint');
  expect(scripts.lint).toContain('biome check --error-on-warnings .');
  const files = Object.assign(
    {},
    ...Object.entries(FORBIDDEN).map(([room, list]) => inEveryForm(room, list)),
  );
  for (const [path, broken] of await lint(files)) expect(broken, path).toContain('noRestrictedImports');
});

test('what a room may import is let through', async () => {
  const files = {
    ...inEveryForm('src/catalogue', ['#src/contract/text.ts', './mapping.ts', 'zod']),
    ...inEveryForm('src/roles', ['#src/api/app.ts', '#db/client.ts']),
    ...inEveryForm('src/cli', ['#src/roles/worker.ts']),
  };
  for (const [path, broken] of await lint(files)) expect(broken, path).not.toContain('noRestrictedImports');
});

test('nothing but migrate loads drizzle: the words of the schema are types elsewhere', async () => {
  const files = (
    await Promise.all(
      ['src', 'jobs', 'db/queries'].map((room) => readdir(room, { recursive: true, withFileTypes: true })),
    )
  ).flat();
  const loads = /^(?:import|export)(?! type\b)[^;]*'(?:#db\/schema\/(?!run-outcomes)|drizzle-orm)[^']*'/m;
  for (const { parentPath, name } of files.filter((file) => file.name.endsWith('.ts'))) {
    expect(await readFile(join(parentPath, name), 'utf8'), join(parentPath, name)).not.toMatch(loads);
  }
});
