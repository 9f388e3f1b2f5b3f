// Keeps the schema fit to be distributed by `application_id` (docs/performance.md): each table, unique key, foreign key and
// join of a query has that column, or stands here with what a distribution does about it.
import { glob, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

/** Tables that stay on one server. */
const LOCAL: Record<string, string> = {
  approvals: 'requests of operators',
  audit_head: 'one chain of all entries',
  audit_log: 'one chain of all entries',
  decision_rules: 'one row of settings: replicated, because the functions of decisions read it',
  event_subscriptions: 'receivers of the platform',
  kyc_keys: 'one key of the installation',
  oidc_flows: 'sign-ins',
  operator_sessions: 'sign-ins',
  operators: 'operators',
  portal_sessions: 'sign-ins',
  reasons: 'a list that operators keep: replicated, because decisions refer to it',
  search_words: 'words of all applications',
  sign_in_attempts: 'sign-ins',
  sign_in_links: 'sign-ins',
  stream_events: 'one order of all events',
  workers: 'processes',
};

/** Tables of pictures: applications share addresses, so they are distributed by picture. */
const BY_PICTURE = [
  'picture_changes',
  'picture_contents',
  'picture_pins',
  'picture_thumbnails',
  'pictures',
  'game_icon_hashes',
];

/** Tables of a game or of a run, which get a column `application_id` when they are distributed. */
const BY_PARENT: Record<string, string> = {
  game_absences: 'games',
  game_leases: 'games',
  game_audits: 'games',
  game_revisions: 'games',
  game_viewers: 'games',
  sync_run_pages: 'sync_runs',
  vanishing_games: 'sync_runs',
};

/** Unique keys without `application_id`. */
const KEYS: Record<string, string> = {
  'api_tokens (token_hash)': 'the API finds its application by it: a replicated table',
  'api_tokens (token_id)': 'as above',
  'sync_runs (run_number)': 'one sequence: unique within an application is enough',
  ...Object.fromEntries(
    [
      'application_checks (check_id)',
      'changed_games (game_id)',
      'content_providers (cp_id)',
      'event_deliveries (event_id)',
      'events (event_id)',
      'game_appeals (appeal_id)',
      'game_appeals (audit_id)',
      'game_appeals (game_id)',
      'game_messages (message_id)',
      'games (game_id)',
      'held_games (game_id)',
      'imported_games (game_id)',
      'kyc_access_log (entry_id)',
      'kyc_former_records (record_id)',
      'kyc_records (record_id)',
      'kyc_verdicts (verdict_id)',
      'sync_runs (run_id)',
    ].map((key) => [key, 'a random id: the key becomes (application_id, id)']),
  ),
};

/** Foreign keys without `application_id` between tables that are distributed by it. */
const REFERENCES: Record<string, string> = Object.fromEntries(
  ['kyc_former_records (cp_id) -> content_providers', 'kyc_records (cp_id) -> content_providers'].map(
    (key) => [key, 'both tables have the column: the reference gets it'],
  ),
);

/** Columns by which queries join tables, without `application_id`. */
const JOINS: Record<string, string> = {
  ...Object.fromEntries(
    ['audit_id', 'event_id', 'game_id', 'game_id, revision', 'run_id', 'token_id'].map((columns) => [
      columns,
      'an id of one application: the join gets the column',
    ]),
  ),
  picture_id: 'of pictures',
  sha256: 'of pictures',
  'code = reason': 'a replicated table',
  login: 'sign-ins',
  application_game_id: 'rows of one application, in one statement',
  hour: 'sums in one statement',
  shape: 'names of operators, in one statement',
  pid: 'sessions of one server, in the views of Postgres',
};

const JOIN =
  /\bjoin (?:lateral )?\w+ ?(?:as )?\w* ?(?:using \(([^)]*)\)|on \w+\.(\w+) (?:=|is not distinct from) \w+\.(\w+))/g;

const isDistributed = (table: string): boolean =>
  !Object.hasOwn(LOCAL, table) && !Object.hasOwn(BY_PARENT, table) && !BY_PICTURE.includes(table);

it('has application_id in each table that no list names', async () => {
  const rows = await database.sql<{ table: string; has_column: boolean }[]>`
    select c.relname as table, exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'application_id') as has_column
    from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      and c.relname not like '%migrations%'`;
  const tables = rows.map(({ table }) => table);
  expect(rows.filter(({ table, has_column }) => isDistributed(table) && !has_column)).toEqual([]);
  // No list names a table that is gone, or that has got its column.
  const listed = [...Object.keys(LOCAL), ...BY_PICTURE, ...Object.keys(BY_PARENT)];
  expect(listed.filter((table) => !tables.includes(table))).toEqual([]);
  expect(rows.filter(({ table, has_column }) => Object.hasOwn(BY_PARENT, table) && has_column)).toEqual([]);
});

it('has application_id in each unique key, or says what the key becomes', async () => {
  const rows = await database.sql<{ table: string; columns: string[] }[]>`
    select t.relname as table, array_agg(a.attname::text order by a.attname) as columns
    from pg_index i join pg_class t on t.oid = i.indrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = any(i.indkey)
    where i.indisunique and t.relnamespace = 'public'::regnamespace and t.relkind = 'r'
    group by i.indexrelid, t.relname`;
  const keys = rows
    .filter(({ table, columns }) => isDistributed(table) && !columns.includes('application_id'))
    .map(({ table, columns }) => `${table} (${columns.join(', ')})`);
  expect([...new Set(keys)].sort()).toEqual(Object.keys(KEYS).sort());
});

it('has application_id in each foreign key between distributed tables, or names the key', async () => {
  const rows = await database.sql<{ table: string; target: string; columns: string[] }[]>`
    select t.relname as table, f.relname as target, array_agg(a.attname::text order by a.attname) as columns
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class f on f.oid = c.confrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = any(c.conkey)
    where c.contype = 'f' and t.relnamespace = 'public'::regnamespace group by c.oid, t.relname, f.relname`;
  const crossing = rows.filter(({ columns }) => !columns.includes('application_id'));
  const references = crossing
    .filter(({ table, target }) => isDistributed(table) && isDistributed(target))
    .map(({ table, target, columns }) => `${table} (${columns.join(', ')}) -> ${target}`);
  expect(references.sort()).toEqual(Object.keys(REFERENCES).sort());
  // A table that gets its column from a parent refers to it, or is about a game.
  for (const { table, target } of crossing.filter(({ table }) => Object.hasOwn(BY_PARENT, table)))
    expect([BY_PARENT[table], 'game_revisions', 'reasons']).toContain(target);
});

it('joins tables by application_id in each query, or by columns that say what the join becomes', async () => {
  const columns = new Set<string>();
  for await (const file of glob('db/queries/*.ts'))
    for (const [, using, left = '', right] of (await readFile(file, 'utf8')).matchAll(JOIN))
      columns.add(using ?? (left === right ? left : `${left} = ${right}`));
  expect(columns).toContain('application_id');
  const others = [...columns].filter((key) => !key.split(', ').includes('application_id'));
  expect(others.sort()).toEqual(Object.keys(JOINS).sort());
});
