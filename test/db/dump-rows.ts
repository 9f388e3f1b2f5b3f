import type { Database } from '#db/client.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** Every time becomes one moment, and the audit log is chained again: the rows are then the same at each run. */
export const fixTimes = (sql: Database): Promise<unknown> =>
  sql.begin(async (tx) => {
    // No trigger and no foreign key interferes with these updates.
    await tx`set local session_replication_role = replica`;
    // One statement a table, because check constraints compare times of a row.
    const updates = await tx<{ statement: string }[]>`
      select format('update %I set %s', table_name, string_agg(format(
        case data_type when 'jsonb' then '%1$I = regexp_replace(%1$I::text, %3$L, %2$L, ''g'')::jsonb'
                       else '%1$I = case when %1$I is not null then %2$L::timestamptz end' end,
        column_name, ${AT}::text, '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'), ', ')) as statement
      from information_schema.columns
      where table_schema = 'public' and data_type in ('timestamp with time zone', 'date', 'jsonb')
      group by table_name`;
    for (const { statement } of updates) await tx.unsafe(statement);
    await tx.unsafe(`
      do $$
      declare
        entry audit_log;
        previous bytea := decode(repeat('00', 32), 'hex');
      begin
        for entry in select * from audit_log order by entry_id loop
          entry.previous_hash := previous;
          previous := audit_hash(entry);
          update audit_log set previous_hash = entry.previous_hash, hash = previous where entry_id = entry.entry_id;
        end loop;
        update audit_head set hash = previous;
      end $$`);
  });

/** Dumps the rows of every table as SQL that inserts them, and the positions of the sequences. */
export const dumpRows = async (sql: Database): Promise<string> => {
  // Postgres computes a generated column itself.
  const tables = await sql<{ name: string; columns: string }[]>`
    select c.oid::regclass::text as name,
           (select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
            where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns
    from pg_class c join pg_namespace n on n.oid = relnamespace
    where relkind = 'r' and nspname in ('public', 'drizzle') order by nspname, relname`;
  const statements: string[] = [];
  for (const { name, columns } of tables) {
    const rows = await sql.unsafe<{ row: string }[]>(
      `select quote_literal(row_to_json(t)) as row from ${name} t order by t::text collate "C"`,
    );
    if (rows.length === 0) continue;
    const values = rows.map(({ row }) => `  (${row})`).join(',\n');
    statements.push(
      `insert into ${name} (${columns}) select ${columns} from (values\n${values}\n) as v (row), json_populate_record(null::${name}, row::json) as r;`,
    );
  }
  const sequences = await sql<{ name: string; last: number }[]>`
    select format('%I.%I', schemaname, sequencename) as name, last_value as last from pg_sequences
    where schemaname in ('public', 'drizzle') and last_value is not null
    order by schemaname, sequencename`;
  for (const { name, last } of sequences) statements.push(`select setval('${name}', ${last});`);
  return `\n-- Rows\n\n${statements.join('\n\n')}\n`;
};
