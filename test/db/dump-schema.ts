import type { Database } from '#db/client.ts';
import { readColumn } from '#db/rows.ts';

/** The statements that make a database: `tables` before its rows are written, `rest` after that. */
export type SchemaDump = { tables: string; rest: string };

const HEAD = `-- The whole database as the migrations make it. \`npm run db:schema\` writes this file, and a test compares it with a
-- migrated database. Read its diff to review a migration; do not edit it.
`;

/**
 * Dumps the tables, functions, triggers, views and grants of a migrated database as SQL that makes them again. The
 * queue's schema is BullMQ's own and is left out. pg_dump would do, but refuses a server that is newer than itself, and
 * the text of a dump would depend on its version.
 */
export const dumpSchema = async (sql: Database): Promise<SchemaDump> => {
  const parts = sql.begin(async (tx) => {
    // Names of tables and functions are printed without their schema if it is in the search path.
    await tx`set local search_path = public, pg_catalog`;
    const list = (query: string) => readColumn(tx.unsafe<{ text: string }[]>(query));
    return {
      sequences: await list(SEQUENCES),
      tables: await list(TABLES),
      functions: await list(FUNCTIONS),
      views: await list(VIEWS),
      indexes: await list(INDEXES),
      foreignKeys: await list(FOREIGN_KEYS),
      triggers: await list(TRIGGERS),
      grants: await list(GRANTS),
    };
  });
  const { sequences, tables, functions, views, indexes, foreignKeys, triggers, grants } = await parts;
  const section = (title: string, statements: readonly string[], between = '\n') =>
    statements.length === 0 ? '' : `\n-- ${title}\n\n${statements.join(between)}\n`;
  return {
    tables: [
      HEAD,
      section('Sequences', sequences),
      section('Tables', ['create schema drizzle;', ...tables], '\n\n'),
    ].join(''),
    rest: [
      section('Functions', functions, '\n\n'),
      section('Views', views, '\n\n'),
      section('Indexes', indexes),
      section('Foreign keys', foreignKeys),
      section('Triggers', triggers, '\n\n'),
      section('Rights of the database roles, and of everybody (public)', grants),
    ].join(''),
  };
};

const SCHEMAS = `('public', 'drizzle')`;
/** The name of a relation, with its schema unless that is `public`. */
const nameOf = (oid: string): string => `(${oid})::regclass::text`;

const SEQUENCES = `
  select 'create sequence ' || ${nameOf('c.oid')} || case seqincrement when 1 then '' else ' increment ' || seqincrement end || ';'
  from pg_class c join pg_namespace n on n.oid = relnamespace join pg_sequence on seqrelid = c.oid
  where relkind = 'S' and nspname in ${SCHEMAS}
    and not exists (select from pg_depend where objid = c.oid and deptype in ('a', 'i'))
  order by relname`;

const TABLES = `
  select 'create ' || case relpersistence when 'u' then 'unlogged ' else '' end || 'table ' || ${nameOf('c.oid')} || E' (\\n'
    || array_to_string(columns || constraints, E',\\n') || E'\\n);' || coalesce(array_to_string(storage, ''), '')
  from pg_class c join pg_namespace n on n.oid = relnamespace
  cross join lateral (
    select array_agg(format('  %I %s', attname, case
        when serial is null then format_type(atttypid, atttypmod)
          || coalesce(case attgenerated when 's' then format(' generated always as (%s) stored', pg_get_expr(adbin, adrelid))
                    else ' default ' || pg_get_expr(adbin, adrelid) end, '')
          || case when attnotnull then ' not null' else '' end
        when atttypid = 'bigint'::regtype then 'bigserial'
        else 'serial'
      end) order by attnum) as columns,
      array_agg(format(E'\\nalter table %s alter column %I set storage external;', ${nameOf('c.oid')}, attname) order by attnum)
        filter (where attstorage = 'e' and typstorage <> 'e') as storage
    from pg_attribute a join pg_type t on t.oid = atttypid
    left join pg_attrdef d on adrelid = attrelid and adnum = attnum
    cross join lateral pg_get_serial_sequence(attrelid::regclass::text, attname) as serial
    where attrelid = c.oid and attnum > 0 and not attisdropped
  ) as described
  cross join lateral (
    select coalesce(array_agg('  constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(o.oid, true)
      order by contype = 'c', contype, conname), '{}') as constraints
    from pg_constraint o where conrelid = c.oid and contype in ('p', 'u', 'c')
  ) as constrained
  where relkind = 'r' and nspname in ${SCHEMAS}
  order by nspname desc, relname`;

const FUNCTIONS = `
  select replace(trim(trailing E'\\n' from pg_get_functiondef(p.oid)), 'FUNCTION public.', 'FUNCTION ') || ';'
  from pg_proc p join pg_namespace n on n.oid = pronamespace
  where nspname = 'public' order by proname, pg_get_function_identity_arguments(p.oid) collate "C"`;

const VIEWS = `
  select 'create view ' || ${nameOf('c.oid')} || E' as\\n' || pg_get_viewdef(c.oid, true)
  from pg_class c join pg_namespace n on n.oid = relnamespace
  where relkind = 'v' and nspname in ${SCHEMAS} order by relname`;

const INDEXES = `
  select pg_get_indexdef(indexrelid, 0, true) || ';'
  from pg_index join pg_class t on t.oid = indrelid join pg_class i on i.oid = indexrelid
  join pg_namespace n on n.oid = t.relnamespace
  where nspname in ${SCHEMAS} and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
  order by t.relname, i.relname`;

const FOREIGN_KEYS = `
  select format('alter table %s add constraint %I %s;', ${nameOf('conrelid')}, conname, pg_get_constraintdef(o.oid, true))
  from pg_constraint o join pg_namespace n on n.oid = connamespace
  where contype = 'f' and nspname in ${SCHEMAS} order by ${nameOf('conrelid')} collate "C", conname`;

const TRIGGERS = `
  select regexp_replace(pg_get_triggerdef(t.oid, true), ' (REFERENCING|FOR EACH|WHEN|EXECUTE) ', E'\\n  \\\\1 ', 'g') || ';'
  from pg_trigger t join pg_class c on c.oid = tgrelid join pg_namespace n on n.oid = relnamespace
  where not tgisinternal and nspname in ${SCHEMAS} order by relname, tgname`;

/** Each right of each role, as `aclexplode` has it. */
const GRANTS = `
  with rights as (
    select 1 as kind, 'schema ' || quote_ident(nspname) as name, null as attname, nspacl as acl
    from pg_namespace where nspname in ${SCHEMAS}
    union all
    select case relkind when 'S' then 2 else 3 end, case relkind when 'S' then 'sequence ' else '' end || ${nameOf('c.oid')},
           null, relacl
    from pg_class c join pg_namespace n on n.oid = relnamespace where nspname in ${SCHEMAS} and relkind in ('r', 'v', 'S')
    union all
    select 3, ${nameOf('c.oid')}, quote_ident(attname), attacl
    from pg_attribute join pg_class c on c.oid = attrelid join pg_namespace n on n.oid = relnamespace
    where nspname in ${SCHEMAS} and attacl is not null
    union all
    select 4, 'function ' || p.oid::regprocedure::text, null, coalesce(proacl, acldefault('f', proowner))
    from pg_proc p join pg_namespace n on n.oid = pronamespace where nspname = 'public'
  ), given as (
    select kind, name, case grantee when 0 then 'public' else grantee::regrole::text end as role,
           lower(privilege_type) || coalesce(' (' || string_agg(attname, ', ' order by attname collate "C") || ')', '') as right_
    from rights cross join lateral aclexplode(acl)
    where grantee = 0 or grantee::regrole::text like 'catalogue\\_%'
    group by kind, name, grantee, privilege_type, attname is null
  ), of_role as (
    select kind, name, role, string_agg(right_, ', '
             order by array_position(array['s', 'i', 'u', 'd'], left(right_, 1)), right_ collate "C") as rights
    from given group by kind, name, role
  )
  select text from (
    select name, 'grant ' || rights || ' on ' || name || ' to ' || string_agg(role, ', ' order by role collate "C") || ';' as text
    from of_role where not (kind = 4 and role = 'public')
    group by name, rights
    union all
    select name, 'revoke execute on ' || name || ' from public;' from rights
    where kind = 4 and not exists (select from given g where g.name = rights.name and role = 'public')
  ) as statements
  order by name collate "C", text collate "C"`;
