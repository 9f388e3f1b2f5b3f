-- The functions and triggers that maintain game_counts and game_count_changes; db/schema/game-counts.ts describes both
-- tables. Earlier versions installed them outside the migrations: a database may already have them.

-- The timestamp of a game_id in units of 128 ms: 35 of the 48 bits of a UUID v7. Later times (from 2109 on) share the
-- last bucket, so that buckets keep the order of ids. Not STRICT: Postgres then inlines it (0.95 µs a game, not 2.75).
create or replace function game_bucket(game_id uuid) returns bigint
language sql immutable parallel safe
as $$ select least(('x' || translate(left(game_id::text, 13), '-', ''))::bit(48)::bigint >> 7, (1::bigint << 35) - 1) $$;

-- The levels at which a game of this application is counted, for the application and for all ("").
-- `rest`: how many low bits of a bucket lie below a child of such a node.
create or replace function nodes_of(application_id text)
returns table (scope text, level smallint, rest integer)
language sql immutable parallel safe
as $$
  values (application_id, 0::smallint, 28), (application_id, 1::smallint, 21), (application_id, 2::smallint, 14),
         (application_id, 3::smallint, 7),
         ('', 0::smallint, 28), ('', 1::smallint, 21), ('', 2::smallint, 14), ('', 3::smallint, 7), ('', 4::smallint, 0)
$$;

-- Cumulative counts of a node's 128 children, from the counts of those that have games. A loop takes a quarter of the
-- time of the same in SQL.
create or replace function games_upto(children integer[], games bigint[]) returns integer[]
language plpgsql immutable parallel safe
as $$
declare
  upto integer[] := array_fill(0, array[128]);
  passed integer := 0;
begin
  for given in 1 .. cardinality(children) loop
    upto[children[given] + 1] := games[given];
  end loop;
  for child in 1 .. 128 loop
    passed := passed + upto[child];
    upto[child] := passed;
  end loop;
  return upto;
end
$$;

-- Adds two arrays element by element.
create or replace function add_upto(these integer[], those integer[]) returns integer[]
language sql immutable parallel safe
as $$
  select array_agg(a + b order by child) from unnest(these, those) with ordinality as every (a, b, child)
$$;

-- Adds the pending changes to the counters, unless another transaction does. Only the owner of the lock writes
-- game_counts, so no writer waits for a row. The number is LOCKS.gameCounts in db/locks.ts.
create or replace function fold_game_counts() returns void
language plpgsql
as $$
begin
  if not pg_try_advisory_xact_lock(7205311848) then
    return;
  end if;
  with folded as (
    delete from game_count_changes returning application_id, audit_status, bucket, games
  )
  insert into game_counts as counted (application_id, audit_status, level, bucket, games, upto)
  select scope, audit_status, level, node, sum(games), games_upto(array_agg(child), array_agg(games))
  from (
    select scope, audit_status, level, bucket >> (rest + 7) as node, (bucket >> rest & 127)::integer as child,
           sum(games)::bigint as games
    from folded, nodes_of(application_id)
    group by 1, 2, 3, 4, 5
    having sum(games) <> 0
  ) as children
  group by 1, 2, 3, 4
  on conflict (application_id, audit_status, level, bucket) do update
    set games = counted.games + excluded.games, upto = add_upto(counted.upto, excluded.upto);
end
$$;

-- Records how many games a statement inserted or deleted. On average one fold per 256 changes: readers add up few
-- changes and writers rarely fold.
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

-- Records a game that moves from one counter to another. A row trigger with a condition: most updates change no
-- counter, and a statement trigger makes those a seventh slower.
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

-- Compares the counters with the games in one snapshot; with `repair` also corrects them. Games can be written
-- meanwhile. Returns one row for each application ("" for all) and audit_status whose counters are wrong.
create or replace function recount_games(repair boolean)
returns table (off_application_id text, off_audit_status text, games_off bigint, counters_off bigint)
language plpgsql
as $$
begin
  -- No fold runs until this transaction ends; the next statement sees every earlier fold.
  perform pg_advisory_xact_lock(7205311848);
  return query
  with leaves as (
    select g.application_id, g.audit_status, game_bucket(g.game_id) as bucket, count(*) as games
    from games g where g.withdrawn_at is null
    group by 1, 2, 3
    union all
    -- Pending changes are not in the counters yet.
    select c.application_id, c.audit_status, c.bucket, -c.games from game_count_changes c
  ), expected as (
    select application_id, audit_status, level, bucket, sum(games)::bigint as games,
           games_upto(array_agg(child), array_agg(games)) as upto
    from (
      select scope as application_id, audit_status, level, bucket >> (rest + 7) as bucket,
             (bucket >> rest & 127)::integer as child, sum(games)::bigint as games
      from leaves, nodes_of(leaves.application_id)
      group by 1, 2, 3, 4, 5
    ) as children
    group by 1, 2, 3, 4
  ), off as (
    select application_id, audit_status, level, bucket, coalesce(expected.games, 0) as games,
           coalesce(expected.upto, games_upto('{}', '{}')) as upto,
           coalesce(expected.games, 0) - coalesce(counted.games, 0) as games_off
    from expected full join game_counts counted using (application_id, audit_status, level, bucket)
    where (coalesce(expected.games, 0), coalesce(expected.upto, games_upto('{}', '{}')))
      <> (coalesce(counted.games, 0), coalesce(counted.upto, games_upto('{}', '{}')))
  ), repaired as (
    insert into game_counts as counted (application_id, audit_status, level, bucket, games, upto)
    select application_id, audit_status, level, bucket, off.games, upto from off where repair
    on conflict (application_id, audit_status, level, bucket) do update
      set games = excluded.games, upto = excluded.upto
  )
  select application_id, audit_status, coalesce(sum(off.games_off) filter (where level = 0), 0)::bigint, count(*)
  from off group by 1, 2 order by 1, 2;
  if repair then
    delete from game_counts where games = 0;
  end if;
end
$$;

-- Finds the page that begins after `skip` games of a scope ("" for all applications) in a status: read the games from
-- `start` on, with `ahead` as OFFSET.
create or replace function place_of_game(scope text, status text, skip bigint, out start uuid, out ahead bigint)
language plpgsql stable
as $$
declare
  place bigint;
  changed boolean;
  -- Pending games before the place: the number assumed, and the number found.
  allowed bigint := 0;
  waiting bigint := 0;
begin
  loop
    -- Descends from the root to the child that contains the row; stops at a node of at most 64 games.
    with recursive walk (level, bucket, left_over) as (
      select 0::smallint, 0::bigint, least(skip - allowed, 2147483647)::integer
      union all
      select (level + 1)::smallint, bucket << 7 | child, left_over - coalesce(upto[child], 0)
      from (
        select level, bucket, left_over, upto, least(width_bucket(left_over, upto), 127) as child
        -- A lateral lookup by the whole key: a join planned while the table was small uses a part of the key.
        from walk cross join lateral (
          select games, upto from game_counts
          where application_id = scope and audit_status = status and level = walk.level and bucket = walk.bucket
          limit 1
        ) as node
        where games > 64
      ) as step
    )
    -- The last step has the largest place and the smallest remainder.
    select max(bucket << (35 - 7 * level)), min(left_over),
           exists (select from game_count_changes where audit_status = status and scope in ('', application_id))
    into place, ahead, changed from walk;
    exit when not changed;
    waiting := (select coalesce(sum(games), 0) from game_count_changes
      where audit_status = status and scope in ('', application_id) and bucket < place);
    exit when waiting <= allowed;
    allowed := waiting;
  end loop;
  ahead := ahead + allowed - waiting;
  start := (lpad(to_hex(place << 7), 12, '0') || repeat('0', 20))::uuid;
end
$$;
--> statement-breakpoint
-- Creates the triggers and counts the existing games, unless the triggers exist: counting locks writers out.
do $$
begin
  if (select count(*) = 3 from pg_trigger where tgrelid = 'games'::regclass
      and tgname in ('games_count_insert', 'games_count_update', 'games_count_delete')) then
    return;
  end if;
  lock table games in share row exclusive mode;
  create or replace trigger games_count_insert after insert on games
    referencing new table as changed_games for each statement execute function count_games();
  create or replace trigger games_count_update after update on games for each row
    when (old.audit_status is distinct from new.audit_status
      or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null)
      or old.application_id is distinct from new.application_id
      or old.game_id is distinct from new.game_id)
    execute function recount_game();
  create or replace trigger games_count_delete after delete on games
    referencing old table as changed_games for each statement execute function count_games();
  perform recount_games(true);
end
$$;
