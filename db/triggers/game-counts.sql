-- The counters behind game.listByAuditStatus (db/schema/game-counts.ts says what they hold). Applied after the
-- migrations, again and again: every statement here leaves a database that has it as it is.

-- The moment of a game_id in steps of 128 ms: 35 of the 48 bits of a UUID v7's milliseconds. What lies past 2109 is
-- counted as the last step of it, so that buckets follow the order of the ids whatever they are. Not declared strict:
-- `least` is not, and Postgres would call the function for each game, for three times what the expression costs.
create or replace function game_bucket(game_id uuid) returns bigint
language sql immutable parallel safe
as $$ select least(('x' || translate(left(game_id::text, 13), '-', ''))::bit(48)::bigint >> 7, (1::bigint << 35) - 1) $$;

-- The nodes that a game of this application is counted in, one a level of the application's tree and of everybody's,
-- and how many bits of its bucket are below a child of such a node.
create or replace function nodes_of(application_id text)
returns table (scope text, level smallint, rest integer)
language sql immutable parallel safe
as $$
  values (application_id, 0::smallint, 28), (application_id, 1::smallint, 21), (application_id, 2::smallint, 14),
         (application_id, 3::smallint, 7),
         ('', 0::smallint, 28), ('', 1::smallint, 21), ('', 2::smallint, 14), ('', 3::smallint, 7), ('', 4::smallint, 0)
$$;

-- What a node holds whose children have so many games: for each of the 128, the games up to its end. A loop, for it
-- runs for every node that changes: the same in SQL takes four times as long.
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

-- Element by element.
create or replace function add_upto(these integer[], those integer[]) returns integer[]
language sql immutable parallel safe
as $$
  select array_agg(a + b order by child) from unnest(these, those) with ordinality as every (a, b, child)
$$;

-- Fold the changes into the counters, unless somebody is at it. Under the lock nobody else writes game_counts,
-- so its rows are never waited for; and what a transaction folds it alone has deleted.
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
    -- A root is written though nothing comes of it there: its version tells of every change below.
    having sum(games) <> 0 or level = 0
  ) as children
  group by 1, 2, 3, 4
  on conflict (application_id, audit_status, level, bucket) do update
    set games = counted.games + excluded.games, upto = add_upto(counted.upto, excluded.upto);
end
$$;

-- Write down how many games came or went. Changes gather until some 256 wait: often enough that readers have few
-- to add up, seldom enough that writers hardly notice.
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

-- The same for a game that moved from one count to another. By the row, with a condition: most updates only
-- refresh a game's age, and handing all their rows to a function would cost those who write a seventh more.
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

-- Compare the counters with the games, and with `repair` put them right, all in one snapshot: games keep being
-- written meanwhile. One row for each application ("" for all) and audit_status that was off.
create or replace function recount_games(repair boolean)
returns table (off_application_id text, off_audit_status text, games_off bigint, counters_off bigint)
language plpgsql
as $$
begin
  -- Nobody folds while this runs; the next statement sees everything folded before.
  perform pg_advisory_xact_lock(7205311848);
  return query
  with leaves as (
    select g.application_id, g.audit_status, game_bucket(g.game_id) as bucket, count(*) as games
    from games g where g.withdrawn_at is null
    group by 1, 2, 3
    union all
    -- What waits to be folded comes on top of the counters.
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
    -- A root stays, for whoever knows its version.
    delete from game_counts where games = 0 and level > 0;
    -- What was known from the counters as they were is not to be believed any more.
    update game_counts set games = games where level = 0;
  end if;
end
$$;

-- Where the row after `skip` others of a scope's games ("" for all applications) in a status is found: among the ids
-- from `start` on, with `ahead` rows of them to step over.
create or replace function place_of_game(scope text, status text, skip bigint, out start uuid, out ahead bigint)
language plpgsql stable
as $$
declare
  place bigint;
  changed boolean;
  -- Games that wait to be folded and lie before the place: those allowed for, and those found.
  allowed bigint := 0;
  waiting bigint := 0;
begin
  loop
    -- From the whole down: the child of a node that holds the row is the one after those it passes. A node of a few
    -- games is not gone into: they are stepped over sooner.
    with recursive walk (level, bucket, left_over) as (
      select 0::smallint, 0::bigint, least(skip - allowed, 2147483647)::integer
      union all
      select (level + 1)::smallint, bucket << 7 | child, left_over - coalesce(upto[child], 0)
      from (
        select level, bucket, left_over, upto, least(width_bucket(left_over, upto), 127) as child
        -- Each by its whole key: a join would go by a part of it when it is planned while there are few.
        from walk cross join lateral (
          select games, upto from game_counts
          where application_id = scope and audit_status = status and level = walk.level and bucket = walk.bucket
          limit 1
        ) as node
        where games > 64
      ) as step
    )
    -- Of all steps the last: on the way down the place only moves on, and what is left over only shrinks.
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

-- The triggers, and the first count of what is there already, with nobody writing in between.
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
