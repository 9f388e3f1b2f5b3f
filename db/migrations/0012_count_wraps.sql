-- How many data keys each key-encryption key wraps, for the metrics. It runs with the rights of its owner: a process that
-- counts wraps need not read sealed rows.
create or replace function count_wraps() returns table (table_name text, key_id text, wraps integer)
language sql stable security definer
set search_path = public, pg_temp
as $$
  select 'kyc_keys', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_keys where data_keys <> '[]' group by 2
  union all select 'applications', access_token_keys -> 0 ->> 'key_id', count(*)::int
    from applications where access_token_keys <> '[]' group by 2
  union all select 'kyc_records', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_records where data_keys <> '[]' group by 2
  union all select 'kyc_former_records', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_former_records where data_keys <> '[]' group by 2
$$;
