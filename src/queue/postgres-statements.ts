/** The statements by which we add to BullMQ's schema in PostgreSQL. */
import { JOB_BYTES_MAX } from '#src/queue/job.ts';

export const CREATE_SEQUENCES =
  'select next_job_id(queue) from unnest($1::text[]) queue where to_regclass(job_id_seq_name(queue)) is null';

/** Ours have 150: a page of ids, and all ids of a queue, are in memory at once. */
const ID_BYTES_MAX = 1_000;
/** Ours have 1 KB. The board reads 200 at once. */
const SCHEDULER_BYTES_MAX = 20_000;

/**
 * Counts the text of a row, because a value that another table keeps compressed has a small `pg_column_size`. BullMQ casts
 * settings of a queue to numbers whenever it adds or fetches a job. At most 0 jobs at once, or at most one in a month, would
 * stop a queue that is called running.
 */
export const LIMIT_ROWS = `do $$ declare of_table text; begin
  for of_table in
    select relname from pg_class c where relnamespace = current_schema::regnamespace and relkind = 'r'
      and not exists (select from pg_constraint where conname = 'row_size' and conrelid = c.oid)
  loop
    execute format('alter table %1$I add constraint row_size check (octet_length((%1$I.*)::text) <= %2$s) not valid', of_table,
      case of_table when 'scheduler' then ${SCHEDULER_BYTES_MAX} else ${JOB_BYTES_MAX} end);
  end loop;
  if not exists (select from pg_constraint where conname = 'id_size' and conrelid = 'job'::regclass) then
    alter table job add constraint id_size check (octet_length(id) <= ${ID_BYTES_MAX}) not valid;
    alter table meta add constraint numbers check (value ~ case
      when field = 'opts.maxLenEvents' then '^\\d{1,9}$'
      when field in ('concurrency', 'max') then '^[1-9]\\d{0,8}$'
      when field = 'duration' then '^\\d{1,5}$'
      when field = 'stalled-check' then '^\\d{1,15}$' else '' end) not valid;
  end if;
end $$`;

/** Longer than any lock (runner.ts). */
const MISDATED_MS = 60_000;

export const FREE_MISDATED_LOCKS = `
  with clock as (select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms),
    stalled_checks as (
      delete from meta using clock
      where case field when 'stalled-check' then abs(value::bigint - now_ms) > ${MISDATED_MS} end)
  update job set locked_until_ms = 0 from clock
  where state = 'active' and locked_until_ms > 0 and abs(locked_until_ms - now_ms) > ${MISDATED_MS}`;

export const LIST_DELAYED_AFTER =
  "select id from job where queue = $1 and state = 'delayed' and process_at_ms > $2 order by process_at_ms, id limit $3 offset $4";
