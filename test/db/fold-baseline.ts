// `npm run db:fold` makes the baseline anew, while 1.0.0 is not released: it writes 0000_tables.sql from db/schema, keeps
// 0001_functions.sql, and deletes all later migrations. Move their functions, triggers and data into 0001_functions.sql
// before; read `git diff db/schema.sql` after, which shows what is missing.
import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import manifest from '#package.json' with { type: 'json' };
import { writeDumps } from '#test/db/write-dumps.ts';

const RELEASE = '1.0.0';
const FOLDER = new URL('../../db/migrations/', import.meta.url);
const FILES = {
  functions: new URL('0001_functions.sql', FOLDER),
  journal: new URL('meta/_journal.json', FOLDER),
  former: new URL('meta/0000_snapshot.json', FOLDER),
  snapshot: new URL('meta/0001_snapshot.json', FOLDER),
};

const readJson = async (file: URL) => JSON.parse(await readFile(file, 'utf8'));
const writeJson = (file: URL, value: unknown) => writeFile(file, JSON.stringify(value, null, 2));
const generate = (...args: string[]): void => {
  execFileSync('npx', ['drizzle-kit', 'generate', ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
};

/** The ids of the baseline stay, so that a fold changes only what the tables need. */
const foldMigrations = async (): Promise<void> => {
  const functions = await readFile(FILES.functions);
  const [{ entries }, { id, prevId }] = [await readJson(FILES.journal), await readJson(FILES.snapshot)];
  await rm(FOLDER, { recursive: true });
  generate('--name=tables');
  generate('--custom', '--name=functions');
  await writeFile(FILES.functions, functions);
  const [journal, snapshot] = [await readJson(FILES.journal), await readJson(FILES.snapshot)];
  await writeJson(FILES.journal, { ...journal, entries: entries.slice(0, 2) });
  await writeJson(FILES.snapshot, { ...snapshot, id, prevId });
  // drizzle-kit compares the tables with the newest snapshot alone.
  await rm(FILES.former);
};

const tags = execFileSync('git', ['tag', '--list', `v${RELEASE}`], { encoding: 'utf8' });
if (manifest.version !== RELEASE || tags.trim() !== '')
  throw new Error(`${RELEASE} is released: its migrations stay. Add one with npm run db:generate.`);
await foldMigrations();
await writeDumps(RELEASE);
