-- The functions and triggers that version 0.1.0 installed after migration 0000 (commit a235585), without comments.

create or replace function game_bucket(game_id uuid) returns bigint
language sql immutable strict parallel safe
as $$ select ('x' || translate(left(game_id::text, 11), '-', ''))::bit(40)::bigint >> 2 $$;

create or replace function counters_of(application_id text)
returns table (scope text, level smallint, shift integer)
language sql immutable parallel safe
as $$
  values (application_id, 0::smallint, 38), (application_id, 1::smallint, 24), (application_id, 2::smallint, 18),
         (application_id, 3::smallint, 12), (application_id, 4::smallint, 6),
         ('', 0::smallint, 38), ('', 1::smallint, 24), ('', 2::smallint, 18),
         ('', 3::smallint, 12), ('', 4::smallint, 6), ('', 5::smallint, 0)
$$;

create or replace function fold_game_counts() returns void
language plpgsql
as $$
begin
  if not pg_try_advisory_xact_lock(7205311847) then
    return;
  end if;
  with folded as (
    delete from game_count_changes returning application_id, audit_status, bucket, games
  )
  insert into game_counts as counted (application_id, audit_status, level, bucket, games)
  select scope, audit_status, level, bucket >> shift, sum(games)
  from folded, counters_of(application_id)
  group by 1, 2, 3, 4
  having sum(games) <> 0
  on conflict (application_id, audit_status, level, bucket) do update
    set games = counted.games + excluded.games;
end
$$;

create or replace function count_games() returns trigger
language plpgsql
as $$
declare
  changes bigint;
begin
  insert into game_count_changes (application_id, audit_status, bucket, games)
  select application_id, audit_status, game_bucket(game_id), case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed_games where withdrawn_at is null
  group by 1, 2, 3;
  get diagnostics changes = row_count;
  if random() < changes / 256.0 then
    perform fold_game_counts();
  end if;
  return null;
end
$$;

create or replace function recount_game() returns trigger
language plpgsql
as $$
begin
  insert into game_count_changes (application_id, audit_status, bucket, games)
  select application_id, audit_status, game_bucket(game_id), games
  from (values (old.application_id, old.audit_status, old.game_id, old.withdrawn_at, -1),
               (new.application_id, new.audit_status, new.game_id, new.withdrawn_at, 1)
       ) as moved (application_id, audit_status, game_id, withdrawn_at, games)
  where withdrawn_at is null;
  if random() < 1 / 256.0 then
    perform fold_game_counts();
  end if;
  return null;
end
$$;

create or replace function recount_games(repair boolean)
returns table (off_application_id text, off_audit_status text, games_off bigint, counters_off bigint)
language plpgsql
as $$
begin
  perform pg_advisory_xact_lock(7205311847);
  return query
  with leaves as (
    select g.application_id, g.audit_status, game_bucket(g.game_id) as bucket, count(*) as games
    from games g where g.withdrawn_at is null
    group by 1, 2, 3
    union all
    select c.application_id, c.audit_status, c.bucket, -c.games from game_count_changes c
  ), expected as (
    select scope as application_id, audit_status, level, bucket >> shift as bucket, sum(games) as games
    from leaves, counters_of(leaves.application_id)
    group by 1, 2, 3, 4
  ), off as (
    select application_id, audit_status, level, bucket,
           (coalesce(expected.games, 0) - coalesce(counted.games, 0))::bigint as games
    from expected full join game_counts counted using (application_id, audit_status, level, bucket)
    where coalesce(expected.games, 0) <> coalesce(counted.games, 0)
  ), repaired as (
    insert into game_counts as counted (application_id, audit_status, level, bucket, games)
    select * from off where repair
    on conflict (application_id, audit_status, level, bucket) do update
      set games = counted.games + excluded.games
  )
  select application_id, audit_status, coalesce(sum(games) filter (where level = 0), 0)::bigint, count(*)
  from off group by 1, 2 order by 1, 2;
  if repair then
    delete from game_counts where games = 0;
  end if;
end
$$;

create or replace function locate_games(scope text, status text, skip bigint,
  out total bigint, out start uuid, out skip_there bigint)
language plpgsql stable
as $$
declare
  depth constant integer := case scope when '' then 5 else 4 end;
  few constant integer := 200;
  rest integer := 38;
  width integer := 14;
  chosen bigint := 0;
  here bigint;
  counted record;
begin
  total := coalesce((select games from game_counts where application_id = scope and audit_status = status and level = 0), 0)
    + coalesce((select sum(games)::bigint from game_count_changes
        where audit_status = status and scope in ('', application_id)), 0);
  if skip >= total then
    return;
  end if;
  skip_there := skip;
  if skip <= few then
    start := '00000000-0000-0000-0000-000000000000';
    return;
  end if;
  for depth_now in 1 .. depth loop
    rest := rest - width;
    chosen := chosen << width;
    here := 0;
    for counted in
      select bucket, games from game_counts
      where application_id = scope and audit_status = status and level = depth_now
        and bucket >= chosen and bucket < chosen + (1 << width)
      union all
      select bucket >> rest, games from game_count_changes
      where audit_status = status and scope in ('', application_id)
        and bucket >> rest >= chosen and bucket >> rest < chosen + (1 << width)
      order by bucket
    loop
      if counted.bucket <> chosen then
        exit when skip_there < here;
        skip_there := skip_there - here;
        chosen := counted.bucket;
        here := 0;
      end if;
      here := here + counted.games;
    end loop;
    width := 6;
    exit when here <= few;
  end loop;
  start := (lpad(to_hex(chosen << (rest + 2)), 10, '0') || repeat('0', 22))::uuid;
end
$$;

create or replace function list_games(scope text, status text, skip bigint, size integer)
returns table (total bigint, game_id uuid, game_name text, audit_status text, audit_time timestamptz)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
declare
  place record;
begin
  place := locate_games(scope, status, skip);
  if scope = '' then
    return query
      select place.total, page.* from (values (true)) as whole left join lateral (
        select g.game_id, g.game_name, g.audit_status, g.audit_time from games g
        where g.audit_status = status and g.withdrawn_at is null and g.game_id >= place.start
        order by g.game_id limit size offset place.skip_there
      ) as page on true;
  else
    return query
      select place.total, page.* from (values (true)) as whole left join lateral (
        select g.game_id, g.game_name, g.audit_status, g.audit_time from games g
        where g.application_id = scope and g.audit_status = status and g.withdrawn_at is null
          and g.game_id >= place.start
        order by g.game_id limit size offset place.skip_there
      ) as page on true;
  end if;
end
$$;

do $$
begin
  if exists (select from pg_trigger where tgname = 'games_count_insert' and tgrelid = 'games'::regclass) then
    return;
  end if;
  lock table games in share row exclusive mode;
  create trigger games_count_insert after insert on games
    referencing new table as changed_games for each statement execute function count_games();
  create trigger games_count_update after update on games for each row
    when (old.audit_status is distinct from new.audit_status
      or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null)
      or old.application_id is distinct from new.application_id
      or old.game_id is distinct from new.game_id)
    execute function recount_game();
  create trigger games_count_delete after delete on games
    referencing old table as changed_games for each statement execute function count_games();
  perform recount_games(true);
end
$$;
