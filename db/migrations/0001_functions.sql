-- Every function and trigger of the database, and what drizzle-kit cannot express about its tables. db/schema describes
-- the tables, docs/architecture.md lists the triggers of `games`, and db/schema.sql shows the result.

-- ---------------------------------------------------------------------------------------------------------------------
-- Tables: settings, first rows
-- ---------------------------------------------------------------------------------------------------------------------

-- A crash of Postgres may empty this table: the detail calls of at most one turn then follow too soon.
alter table detail_turns set unlogged;

-- A crash of Postgres may empty this table: open runs that lose their pages are abandoned, and new ones begin.
alter table sync_run_pages set unlogged;

-- WebP does not compress further.
alter table picture_thumbnails alter column webp set storage external;

-- The four parts of 16 bits of a difference hash, each with its number.
create function icon_bands(hash bigint) returns integer[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array[(hash & 65535)::int, (hash >> 16 & 65535)::int + 65536, (hash >> 32 & 65535)::int + 131072,
               (hash >> 48 & 65535)::int + 196608]
$$;

create index game_icon_hashes_bands on game_icon_hashes using gin (icon_bands(dhash));

-- The keys of a word in search_words: its parts of three letters, and "~" with the word as it is and without each letter.
-- Two words that differ in one letter, or in the order of two, share a key of the second kind.
create function search_keys(word text) returns text[]
language sql immutable strict parallel safe
as $$
  select array_agg(substr(word, place, 3)) filter (where place <= length(word) - 2)
         || array_agg(distinct '~' || overlay(word placing '' from place for 1)) || ('~' || word)
  from generate_series(1, length(word)) as places (place)
$$;

-- Adds the new words of games to search_words. A lexeme with a mark (#, @, +) is no word of letters, and one of more than 24
-- letters none of ours: its keys would take megabytes. It waits for no other writer, so two may add the same word.
create function keep_words() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  insert into search_words (word, keys)
  select word, search_keys(word)
  from (select distinct word from affected_games, unnest(tsvector_to_array(search)) as word) as words
  where ascii(word) > 64 and length(word) <= 24 and not exists (select from search_words known where known.word = words.word);
  return null;
end
$$;

create trigger games_words_insert after insert on games
  referencing new table as affected_games for each statement execute function keep_words();

-- The same for a name that changed. Its former words go, unless another game has them, so that an application that renames
-- its games without end does not fill the table. A game that is stored at this moment may lose a word, which is then found
-- as it is, and not by a slip. No plan for an absent word may read all games.
create function keep_changed_words() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
set enable_seqscan = off
as $$
begin
  with former as materialized (
    select word from unnest(tsvector_to_array(old.search)) as words (word)
    where ascii(word) > 64 and word <> all(tsvector_to_array(new.search))
  )
  delete from search_words using former
  where search_words.word = former.word
    and not exists (select from games where search @@ array_to_tsvector(array[former.word])::text::tsquery);
  insert into search_words (word, keys)
  select word, search_keys(word) from unnest(tsvector_to_array(new.search)) as words (word)
  where ascii(word) > 64 and length(word) <= 24 and not exists (select from search_words known where known.word = words.word);
  return null;
end
$$;

create trigger games_words_update after update of search on games for each row
  when (old.search is distinct from new.search)
  execute function keep_changed_words();

insert into audit_head (entry_id, hash) values (0, decode(repeat('00', 32), 'hex'));

insert into decision_rules default values;

insert into reasons (code, label, position) values
  ('incomplete', 'Information is missing or incomplete', 1),
  ('broken_media', 'An icon, a picture or the video does not load', 2),
  ('misleading', 'The name, text or pictures mislead about the game', 3),
  ('inappropriate', 'The content is not appropriate for the platform', 4),
  ('rights', 'Rights to the game, its name or its pictures are in doubt', 5),
  ('duplicate', 'The game is in the catalogue already', 6),
  ('other', 'Another reason, see the text', 7);

-- A transaction with a snapshot of its own, which any login may begin, counts without the rows of those for which it waited,
-- and judges by rows as they were.
create function refuse_snapshots() returns void
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if current_setting('transaction_isolation') not like 'read %' then
    raise exception 'Only transactions of the isolation level read committed write here.' using errcode = 'insufficient_privilege';
  end if;
end
$$;

-- Every decision, and every page of a game, reads all reasons.
create function limit_reasons() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform refuse_snapshots();
  lock table reasons in share row exclusive mode;
  if 1000 <= (select count(*) from reasons where code <> new.code) then
    raise exception 'There are 1,000 reasons: change the words of one.' using errcode = 'GC002';
  end if;
  return new;
end
$$;

create trigger reasons_limited before insert on reasons for each row execute function limit_reasons();

-- ---------------------------------------------------------------------------------------------------------------------
-- Counters of games: game_counts and game_count_changes (db/schema/game-counts.ts)
--
-- The functions that write run with the rights of their owner, because a role that changes the status of a game may not
-- write the counters.
-- ---------------------------------------------------------------------------------------------------------------------

-- The timestamp of a game_id in units of 128 ms: 35 of the 48 bits of a UUID v7. Times from 2109 on share the last
-- bucket, so that buckets keep the order of ids. Not STRICT, because Postgres then inlines it (0.95 µs a game, not 2.75).
create function game_bucket(game_id uuid) returns bigint
language sql immutable parallel safe
as $$ select least(('x' || translate(left(game_id::text, 13), '-', ''))::bit(48)::bigint >> 7, (1::bigint << 35) - 1) $$;

-- The levels at which a game of this application is counted, for the application and for all ("").
-- `rest` is the number of low bits of a bucket that lie below a child of such a node.
create function nodes_of(application_id text)
returns table (scope text, level smallint, rest integer)
language sql immutable parallel safe
as $$
  values (application_id, 0::smallint, 28), (application_id, 1::smallint, 21), (application_id, 2::smallint, 14),
         (application_id, 3::smallint, 7),
         ('', 0::smallint, 28), ('', 1::smallint, 21), ('', 2::smallint, 14), ('', 3::smallint, 7), ('', 4::smallint, 0)
$$;

-- Cumulative counts of a node's 128 children, from the counts of those that have games. A loop takes a quarter of the
-- time of the same in SQL.
create function games_upto(children integer[], games bigint[]) returns integer[]
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
create function add_upto(these integer[], those integer[]) returns integer[]
language sql immutable parallel safe
as $$
  select array_agg(a + b order by child) from unnest(these, those) with ordinality as every (a, b, child)
$$;

-- Adds the pending changes to the counters, unless another transaction does. Only the owner of the lock writes
-- game_counts, so no writer waits for a row. The number is LOCKS.gameCounts in db/locks.ts.
create function fold_game_counts() returns void
language plpgsql security definer
set search_path = public, pg_temp
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

-- Records how many games a statement inserted or deleted. Of 256 changes one folds on average, so that readers add up
-- few changes and writers rarely fold.
create function count_games() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  changes bigint;
begin
  insert into game_count_changes (application_id, audit_status, bucket, games)
  select application_id, audit_status, game_bucket(game_id), case tg_op when 'INSERT' then count(*) else -count(*) end
  from affected_games where withdrawn_at is null
  group by 1, 2, 3;
  get diagnostics changes = row_count;
  if random() < changes / 256.0 then
    perform fold_game_counts();
  end if;
  return null;
end
$$;

-- Records a game that moves from one counter to another.
create function recount_game() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
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

create trigger games_count_insert after insert on games
  referencing new table as affected_games for each statement execute function count_games();

create trigger games_count_delete after delete on games
  referencing old table as affected_games for each statement execute function count_games();

-- A row trigger with a condition: most updates change no counter, and a statement trigger makes those a seventh slower.
create trigger games_count_update after update on games for each row
  when (old.audit_status is distinct from new.audit_status
    or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null)
    or old.application_id is distinct from new.application_id
    or old.game_id is distinct from new.game_id)
  execute function recount_game();

-- Counts a game that enters or leaves the changed lane.
create function count_changed_game() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  game changed_games := coalesce(new, old);
begin
  insert into game_count_changes (application_id, audit_status, bucket, games)
  values (game.application_id, 'changed', game_bucket(game.game_id), case tg_op when 'INSERT' then 1 else -1 end);
  if random() < 1 / 256.0 then
    perform fold_game_counts();
  end if;
  return null;
end
$$;

create trigger changed_games_count after insert or delete on changed_games
  for each row execute function count_changed_game();

-- Compares the counters with the games in one snapshot; with `repair` also corrects them. Games can be written
-- meanwhile. Returns one row for each application ("" for all) and audit_status whose counters are wrong.
create function recount_games(repair boolean)
returns table (off_application_id text, off_audit_status text, games_off bigint, counters_off bigint)
language plpgsql security definer
set search_path = public, pg_temp
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
    select c.application_id, 'changed', game_bucket(c.game_id), 1 from changed_games c
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

-- How many games of an application ("" for all) have a status: the roots of the tree, and what is not folded into them
-- yet. A reader adds the rows. All statuses are named, because the primary key then finds each root by its whole key.
-- Postgres inlines the function; a view of all applications would read the pending changes twice.
create function game_totals(scope text) returns table (audit_status text, games bigint)
language sql stable
as $$
  select audit_status, games from game_counts
  where application_id = scope and audit_status = any (array['pending', 'passed', 'rejected']) and level = 0 and bucket = 0
  union all
  select audit_status, games from game_count_changes where scope in ('', application_id) and audit_status <> 'changed'
$$;

-- How many games of an application ("" for all) are in the changed lane. Postgres inlines the function.
create function count_changed_games(scope text) returns bigint
language sql stable
as $$
  select coalesce(sum(games), 0)::bigint from (
    select games from game_counts
    where application_id = scope and audit_status = 'changed' and level = 0 and bucket = 0
    union all
    select games from game_count_changes where scope in ('', application_id) and audit_status = 'changed'
  ) as counted
$$;

-- Finds the page that begins after `skip` games of a scope ("" for all applications) in a status: read the games from
-- `start` on, with `ahead` as OFFSET.
create function place_of_game(scope text, status text, skip bigint, out start uuid, out ahead bigint)
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

-- The milliseconds since 1970 that a game_id begins with.
create function game_ms(game_id uuid) returns bigint
language sql immutable parallel safe
as $$ select ('x' || translate(left(game_id::text, 13), '-', ''))::bit(48)::bigint $$;

-- How long after its arrival a game of an application with this priority is due.
create function review_target_ms(priority text) returns bigint
language sql stable
as $$
  select case priority when 'high' then review_target_ms / 4 when 'low' then review_target_ms * 4 else review_target_ms end
  from decision_rules
$$;

-- The place of a lane as a place among the ids of games that are due this long after their arrival: those with a larger
-- id come after it, those with a smaller one before it.
create function lane_bound(due timestamptz, target_ms bigint, id uuid) returns uuid
language sql immutable parallel safe
as $$
  select case when arrived = game_ms(id) then id else (lpad(to_hex(
    greatest(least(arrived + (arrived < game_ms(id))::integer, (1::bigint << 48) - 1), 0)), 12, '0') || repeat('0', 20))::uuid end
  from (select (extract(epoch from due) * 1000)::bigint - target_ms as arrived) as place
$$;

-- Counts the games of the new lane, of one application or all (""), with a smaller id: the pending ones that are not in the
-- changed lane. Uses the counters for whole spans, and an index for the rest of the last one.
create function count_new_before(scope text, bound uuid) returns bigint
language plpgsql stable
as $$
declare
  leaf bigint := game_bucket(bound);
  -- The tree of an application ends one level sooner.
  rest integer := case scope when '' then 0 else 7 end;
  span uuid := (lpad(to_hex(leaf >> rest << rest << 7), 12, '0') || repeat('0', 20))::uuid;
  before bigint;
begin
  select coalesce(sum(case audit_status when 'pending' then upto[node.child] else -upto[node.child] end), 0) into before
  from (
    select level::smallint, leaf >> (35 - 7 * level) as bucket, (leaf >> (28 - 7 * level) & 127)::integer as child
    from generate_series(0, case scope when '' then 4 else 3 end) as levels (level)
  ) as node
  join game_counts counted on counted.application_id = scope and counted.audit_status = any (array['pending', 'changed'])
    and counted.level = node.level and counted.bucket = node.bucket
  where node.child > 0;
  before := before + (select coalesce(sum(case audit_status when 'pending' then games else -games end), 0)
    from game_count_changes where audit_status in ('pending', 'changed') and scope in ('', application_id)
      and bucket < leaf >> rest << rest);
  if scope = '' then
    return before + (select count(*) from games g
      where g.audit_status = any (array['pending']) and g.withdrawn_at is null and g.game_id >= span and g.game_id < bound
        and not exists (select from changed_games c where c.game_id = g.game_id));
  end if;
  return before + (select count(*) from games g
    where g.application_id = any (array[scope]) and g.audit_status = 'pending' and g.withdrawn_at is null
      and g.game_id >= span and g.game_id < bound
      and not exists (select from changed_games c where c.game_id = g.game_id));
end
$$;

-- Finds the first span of 16 s, from this one on, in which other applications than these have new games. Null: none.
create function next_new_span(excluded text[], span bigint) returns bigint
language plpgsql stable
as $$
declare
  node_level smallint := 3;
  node bigint := span >> 7;
  skipped integer := span & 127;
  part integer;
  -- Games that the counters do not have yet.
  uncounted bigint := (select min(spans.span) from (
    select bucket >> 7 as span from game_count_changes
    where audit_status in ('pending', 'changed') and application_id <> all (excluded) and bucket >> 7 >= next_new_span.span
    group by 1 having sum(case audit_status when 'pending' then games else -games end) > 0
  ) as spans);
begin
  -- Ascends to the first node with such a game after the span, then descends to its first one.
  loop
    with others as (
      select child, sum(case when (application_id = '') = (audit_status = 'pending') then parts.games else -parts.games end)
               as games
      from game_counts cross join unnest(upto) with ordinality as parts (games, child)
      where application_id = any ('{""}' || excluded) and audit_status = any (array['pending', 'changed'])
        and level = node_level and bucket = node
      group by child
    )
    select min(child) - 1 into part from others
    where games > coalesce((select games from others where child = skipped), 0);
    if part is null then
      if node_level = 0 then
        return uncounted;
      end if;
      skipped := (node & 127) + 1;
      node := node >> 7;
      node_level := node_level - 1;
    else
      skipped := 0;
      node := node << 7 | part;
      exit when node_level = 3;
      node_level := node_level + 1;
    end if;
  end loop;
  return least(node, uncounted);
end
$$;

-- The new lane without the games of some applications, in the order of ids. Steps by the counters over many of those, and
-- over many changed games.
create function list_new_games(excluded text[], after uuid, wanted integer)
returns table (game_id uuid, game_name text)
language plpgsql stable
as $$
declare
  game record;
  place uuid := coalesce(after, '00000000-0000-0000-0000-000000000000');
  left_over integer := wanted;
  compared integer;
  is_fruitless boolean;
  span bigint;
begin
  loop
    compared := 0;
    is_fruitless := true;
    for game in
      select g.game_id, g.game_name,
             g.application_id = any (excluded)
               -- A lookup for each game: for `exists`, Postgres reads all changed games first.
               or (select c.game_id from changed_games c where c.game_id = g.game_id) is not null as is_passed_over
      from games g
      where g.audit_status = any (array['pending']) and g.withdrawn_at is null and g.game_id > place
      order by g.audit_status, g.game_id limit 250
    loop
      compared := compared + 1;
      place := game.game_id;
      continue when game.is_passed_over;
      game_id := game.game_id;
      game_name := game.game_name;
      return next;
      is_fruitless := false;
      left_over := left_over - 1;
      if left_over = 0 then
        return;
      end if;
    end loop;
    if compared < 250 then
      return;
    end if;
    if is_fruitless then
      span := next_new_span(excluded, game_bucket(place) >> 7);
      if span is null then
        return;
      end if;
      place := greatest(place, (lpad(to_hex(span << 14), 12, '0') || repeat('0', 20))::uuid);
    end if;
  end loop;
end
$$;

-- Counts the games of a lane, of one application or all (""), that are due before a place.
create function count_lane_before(lane text, scope text, due timestamptz, id uuid) returns bigint
language plpgsql stable
as $$
declare
  usual uuid := lane_bound(due, review_target_ms('normal'), id);
  -- Read once each: a call for each row took 8 µs.
  since_high timestamptz := due - review_target_ms('high') * interval '1 millisecond';
  since_normal timestamptz := due - review_target_ms('normal') * interval '1 millisecond';
  since_low timestamptz := due - review_target_ms('low') * interval '1 millisecond';
begin
  if lane = 'changed' then
    return (select count(*) from changed_games c join applications a using (application_id)
      where scope in ('', c.application_id) and c.since <= since_high
        and (c.since, c.game_id) < (
          case a.review_priority when 'high' then since_high when 'low' then since_low else since_normal end, id)
        and not exists (select from application_holds h where h.application_id = c.application_id));
  end if;
  return (
    with streams as (
      select application_id, lane_bound(due, review_target_ms(review_priority), id) as bound,
             exists (select from application_holds h where h.application_id = a.application_id) as is_held
      from applications a where a.review_priority <> 'normal' and scope in ('', application_id)
      union
      select application_id, lane_bound(due, review_target_ms(review_priority), id),
             exists (select from application_holds h where h.application_id = a.application_id)
      from applications a
      where application_id = scope or scope = '' and application_id in (select application_id from application_holds)
    ), counted as (
      select count_new_before(application_id, bound) as games from streams where not is_held
      union all
      -- Of all games, as if each was due at the usual time, those of the streams are none.
      select -count_new_before(application_id, usual) from streams where scope = ''
      union all
      select count_new_before('', usual) where scope = ''
    )
    select coalesce(sum(games), 0) from counted);
end
$$;

-- How many games and appeals are due, for the metrics of every process.
create function count_due_games() returns table (lane text, games bigint)
language sql stable security definer
set search_path = public, pg_temp
as $$
  select lane, count_lane_before(lane, '', now(), 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  from unnest(array['new', 'changed']) as lanes (lane)
  union all
  select 'appeals', count(*) from game_appeals p join games g using (game_id)
  join applications a on a.application_id = g.application_id
  where p.outcome is null and g.audit_status = 'rejected' and g.withdrawn_at is null
    and p.opened_at <= now() - review_target_ms(a.review_priority) * interval '1 millisecond'
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Review: changed_games and game_absences (db/schema/review.ts)
-- ---------------------------------------------------------------------------------------------------------------------

-- The decision of a game that stands: the last one that was not undone. Postgres inlines the function.
create function standing_decision(of_game uuid)
returns table (audit_id bigint, revision integer, audit_status text, decided_by text, reason text, text text)
language sql stable
as $$
  select audit_id, revision, audit_status, decided_by, reason, text from game_audits
  where game_id = of_game and undone_at is null order by audit_id desc limit 1
$$;

-- Why no game of an application can be passed at a time; null if it can. Postgres inlines the function. The time is not the
-- transaction's, which may have begun before a verdict ended.
create function pass_obstacle(of_application text, at_time timestamptz default statement_timestamp()) returns text
language sql stable
as $$
  select case
    when exists (select from application_holds where application_id = of_application) then 'held'
    when (select games_need_verdict from decision_rules) and not exists (
      select from kyc_verdicts where application_id = of_application and verdict = 'verified'
        and ended_at is null and expires_at > at_time) then 'needs_verdict'
  end
$$;

-- Refuses to pass a game of an application that is removed, held or needs a verdict, to every database role. A passed game that
-- returns from a withdrawal then waits for review. The locks make a hold, and what ends a verdict, wait for the pass, or
-- the pass for them. The function runs with the rights of its owner, because no role that passes games may lock verdicts.
create function check_pass() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  obstacle text;
begin
  perform refuse_snapshots();
  perform from applications where application_id = new.application_id for key share;
  -- An undo may return a withdrawn game to what it was.
  if new.withdrawn_at is null and is_removed(new.application_id) then
    obstacle := 'removed';
  else
    perform from kyc_verdicts where application_id = new.application_id and ended_at is null for share;
    -- Statements that are sent together have the time of the first.
    obstacle := pass_obstacle(new.application_id, clock_timestamp());
  end if;
  if obstacle is null then
    return new;
  end if;
  if tg_op = 'UPDATE' and old.audit_status = 'passed' and old.withdrawn_at is not null and new.withdrawn_at is null then
    new.audit_status := 'pending';
    new.audit_time := null;
    return new;
  end if;
  raise exception 'No game of % can be passed: %.', new.application_id, case obstacle
    when 'removed' then 'the application is removed'
    when 'held' then 'an operator holds the application'
    else 'its developer has no standing verdict, and GAMES_NEED_VERDICT is on' end
    using errcode = 'GC001';
end
$$;

create trigger games_pass_insert before insert on games for each row
  when (new.audit_status = 'passed')
  execute function check_pass();

create trigger games_pass_update before update of audit_status, withdrawn_at on games for each row
  when (new.audit_status = 'passed' and (old.audit_status <> 'passed'
    or old.withdrawn_at is not null and new.withdrawn_at is null))
  execute function check_pass();

-- It runs with the rights of its owner: a row of another game or application would keep a game out of both lanes.
create function track_review() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  decided_revision integer;
  -- A game whose decision was undone returns to its place in the lane.
  waiting_since timestamptz;
  -- A game whose content changed after its last decision, and on whose revision there was no decision, is looked at by
  -- the media process.
  carry_at timestamptz;
begin
  if old.withdrawn_at is null and new.withdrawn_at is not null then
    insert into game_absences (game_id, withdrawn_at) values (new.game_id, new.withdrawn_at) on conflict do nothing;
  elsif old.withdrawn_at is not null and new.withdrawn_at is null then
    update game_absences set returned_at = now() where game_id = new.game_id and returned_at is null;
  end if;
  if new.audit_status <> 'pending' or new.withdrawn_at is not null then
    delete from changed_games where game_id = new.game_id;
    return null;
  end if;
  decided_revision := (select revision from standing_decision(new.game_id));
  if decided_revision is not null then
    waiting_since := (select case when a.undone_at is not null and a.revision = new.revision then a.waiting_since end
      from game_audits a where a.game_id = new.game_id order by a.audit_id desc limit 1);
    if not exists (select from game_audits a where a.game_id = new.game_id and a.revision = new.revision) then
      carry_at := now();
    end if;
    insert into changed_games as c (game_id, application_id, decided_revision, since, carry_at)
    values (new.game_id, new.application_id, decided_revision, coalesce(waiting_since, now()), carry_at)
    on conflict (game_id) do update set carry_at = excluded.carry_at;
  end if;
  return null;
end
$$;

-- A row trigger with a condition: ordinary writes of a worker do not call it.
create trigger games_review after update on games for each row
  when (old.audit_status is distinct from new.audit_status
    or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null)
    or old.revision is distinct from new.revision)
  execute function track_review();

-- Carries the last decision on a game over to its current revision, if nothing but addresses of pictures differs and
-- every picture has the bytes that the decision names. The media process calls it: it may not decide, so this function
-- checks what the tables can tell, and runs with the rights of its owner.
-- `places`: [{"is_icon", "place", "picture_id"}, …], the pictures of the game as it is now.
-- Returns the new decision; null if nothing was decided.
create function carry_over_decision(carried_game uuid, carried_revision integer, decision bigint, places jsonb)
returns bigint
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  game games;
  former game_audits;
  carried bigint;
  waiting_since timestamptz;
begin
  -- A hold locks the application before its games.
  perform from applications where application_id = (select application_id from games where game_id = carried_game)
    for key share;
  select * into game from games where game_id = carried_game for update;
  select * into former from game_audits
    where game_id = carried_game and undone_at is null order by audit_id desc limit 1;
  if game.revision is distinct from carried_revision or game.audit_status <> 'pending' or game.withdrawn_at is not null
    or former.audit_id is distinct from decision or former.revision >= game.revision
    or former.audit_status = 'passed' and pass_obstacle(game.application_id) is not null
    or exists (select from game_audits where game_id = carried_game and revision = game.revision)
    or not exists (
      select from game_revisions r
      where r.game_id = carried_game and r.revision = former.revision
        and r.game_name = game.game_name and r.game_desc = game.game_desc
        -- What signs the address of a video may differ.
        and split_part(r.game_store_video, '?', 1) = split_part(game.game_store_video, '?', 1)
        and cardinality(r.game_icon) = cardinality(game.game_icon)
        and cardinality(r.game_store_pic) = cardinality(game.game_store_pic))
  then
    return null;
  end if;
  -- The bytes stay as they are until the end.
  perform from pictures where picture_id in (select (each ->> 'picture_id')::uuid from jsonb_array_elements(places) each)
    order by picture_id for share;
  -- No place but those of the decision: the API serves each picture that a decision names.
  if jsonb_array_length(places) <> cardinality(game.game_icon) + cardinality(game.game_store_pic)
    or jsonb_array_length(places) is distinct from (
    select count(*) from picture_pins pin
    join jsonb_to_recordset(places) as p(is_icon boolean, place smallint, picture_id uuid) using (is_icon, place)
    join pictures now_is on now_is.picture_id = p.picture_id
    where pin.audit_id = former.audit_id and octet_length(pin.sha256) = 32 and now_is.sha256 = pin.sha256)
  then
    return null;
  end if;
  select c.since into waiting_since from changed_games c where c.game_id = carried_game;
  insert into game_audits (game_id, revision, audit_status, decided_by, reason, text, waiting_since, decided_at,
    carried_over_from)
  values (carried_game, game.revision, former.audit_status, 'catalogue', former.reason, former.text, waiting_since,
    statement_timestamp(), former.audit_id)
  returning audit_id into carried;
  insert into picture_pins (audit_id, is_icon, place, picture_id, sha256)
  select carried, p.is_icon, p.place, p.picture_id, now_is.sha256
  from jsonb_to_recordset(places) as p(is_icon boolean, place smallint, picture_id uuid)
  join pictures now_is on now_is.picture_id = p.picture_id;
  update pictures set next_check_at = now()
  where picture_id in (select picture_id from picture_pins where audit_id = carried);
  update games set audit_status = former.audit_status, audit_time = statement_timestamp(), updated_at = statement_timestamp()
  where game_id = carried_game;
  insert into audit_log (actor, actor_kind, action, subject, details)
  values ('catalogue', 'system', 'game.carry_over', 'game:' || carried_game, jsonb_build_object(
    'audit_id', carried, 'carried_over_from', former.audit_id, 'revision', game.revision,
    'audit_status', former.audit_status));
  return carried;
end
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Events: events and event_deliveries (db/schema/events.ts)
-- ---------------------------------------------------------------------------------------------------------------------

-- A UUID v7 for Postgres 14 and newer: milliseconds since 1970, then random bits.
create function event_uuid() returns uuid
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6
  ), 52, 1), 53, 1), 'hex')::uuid
$$;

-- Writes an event of a game, and its delivery if the application has an address. The function runs with the rights of its
-- owner, because no role may write events.
create function send_event(game games, event_type text, why text, more jsonb) returns void
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  id constant uuid := event_uuid();
begin
  insert into events (event_id, application_id, type, game_id, data, created_at)
  values (id, game.application_id, event_type, game.game_id, jsonb_build_object(
    'game_id', game.game_id,
    'application_game_id', game.application_game_id,
    'game_name', game.game_name,
    'audit_status', game.audit_status,
    'audit_time', coalesce(to_char(game.audit_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ''),
    'revision', game.revision,
    'why', why
  ) || more, clock_timestamp());
  insert into event_deliveries (event_id, application_id)
  select id, application_id from event_webhooks where application_id = game.application_id and status = 'active';
end
$$;

-- Writes an event that its developer requests as a test, and its delivery. It has the form of every event, and the id of
-- no game: no table has a game of that id.
create function send_test_event(of_application text) returns uuid
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  id constant uuid := event_uuid();
  no_game constant uuid := '00000000-0000-0000-0000-000000000000';
begin
  perform from applications where application_id = of_application;
  if not found then
    raise exception 'There is no application %.', left(of_application, 100) using errcode = 'insufficient_privilege';
  end if;
  insert into events (event_id, application_id, type, game_id, data, created_at)
  values (id, of_application, 'webhook.test', no_game, jsonb_build_object('game_id', no_game,
    'application_game_id', '', 'game_name', 'A test', 'audit_status', 'pending', 'audit_time', '', 'revision', 1,
    'why', 'test'), clock_timestamp());
  insert into event_deliveries (event_id, application_id) values (id, of_application);
  return id;
end
$$;

-- Writes the event of a game whose status changed. It runs at the end of the statement, so it sees the decision of that
-- statement. The removal of an application writes no events, because no token may read them.
create function record_event() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  event_type text := 'game.' || new.audit_status;
  why text;
  more jsonb := '{}';
begin
  if not exists (select from applications where application_id = new.application_id and status <> 'removed') then
    return null;
  end if;
  if old.withdrawn_at is null and new.withdrawn_at is not null then
    event_type := 'game.withdrawn';
    why := 'not_listed';
  elsif exists (select from game_audits where game_id = new.game_id and undone_at = statement_timestamp()) then
    why := 'decision_undone';
  elsif new.audit_status = 'pending' and old.audit_status <> 'pending' then
    why := case
      when new.revision <> old.revision then 'content_changed'
      when exists (select from application_holds where application_id = new.application_id) then 'held'
      when old.withdrawn_at is not null and new.withdrawn_at is null then 'needs_verdict'
      else 'pictures_changed' end;
  elsif old.withdrawn_at is not null and new.withdrawn_at is null then
    why := 'returned';
  elsif new.audit_status = 'passed' and exists (select from held_games where game_id = new.game_id) then
    why := 'released';
  else
    why := 'decided';
  end if;
  if why = 'decided' and new.audit_status = 'passed' then
    select jsonb_build_object('text', p.answer) into more
    from game_audits a join game_appeals p using (appeal_id)
    where a.game_id = new.game_id and a.decided_at = statement_timestamp();
    if found then
      why := 'appeal';
    end if;
  elsif new.audit_status = 'rejected' then
    select jsonb_build_object('reason', coalesce(d.reason, ''), 'reason_label', coalesce(r.label, ''),
                              'text', coalesce(d.text, ''))
    into more
    from standing_decision(new.game_id) d left join reasons r on r.code = d.reason
    where d.audit_status = 'rejected';
  end if;
  if why in ('returned', 'released') and new.audit_status = 'passed' then
    -- Pictures of a game that is withdrawn or held are not compared with its decision.
    update pictures set next_check_at = now()
    where picture_id in (
      select picture_id from picture_pins where audit_id = (select audit_id from standing_decision(new.game_id)));
  end if;
  perform send_event(new, event_type, why, coalesce(more, '{}'));
  return null;
end
$$;

-- A withdrawn game writes no event, because it is not in the catalogue, and its return tells its status. A decision that
-- replaces another one with the same status changes audit_time. A row trigger with a condition: ordinary writes of a
-- worker do not call it.
create trigger games_events after update on games for each row
  when ((old.withdrawn_at is null or new.withdrawn_at is null) and (
    old.audit_status is distinct from new.audit_status or old.audit_time is distinct from new.audit_time
    or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null)))
  execute function record_event();

-- ---------------------------------------------------------------------------------------------------------------------
-- The platform's stream: stream_events (db/schema/stream.ts)
--
-- The functions run with the rights of their owner, because no role may write the stream.
-- ---------------------------------------------------------------------------------------------------------------------

-- Each event of a game is in the stream too. `events` has what it tells.
create function stream_application_events() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  insert into stream_events (event_id, type, application_id, game_ids, revisions, created_at)
  select event_id, type, application_id, array[game_id], array[(data ->> 'revision')::int], created_at
  from fresh_events where type <> 'webhook.test' order by event_number;
  return null;
end
$$;

create trigger events_stream after insert on events
  referencing new table as fresh_events for each statement execute function stream_application_events();

-- New games and new content, up to 1,000 a row (EVENTS_A_ROW). Each has a new revision, so that equal details write nothing.
-- Readers look up the application, because every new game pays for what is written here. A revision that a stolen worker
-- stores before the game has it would keep the game from every later content; one below the first would end the answers of the
-- stream.
create function stream_revisions() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  -- A subquery, because a join can read all games before Postgres has analyzed the table.
  perform from fresh_revisions r
  where r.revision < 1 or r.revision > 1 and r.revision > (select g.revision from games g where g.game_id = r.game_id);
  if found then
    raise exception 'No game has this revision yet.' using errcode = 'insufficient_privilege';
  end if;
  insert into stream_events (type, size, game_ids, revisions)
  select case when is_first then 'game.received' else 'game.changed' end, count(*), array_agg(game_id), array_agg(revision)
  from (
    select game_id, revision, revision = 1 as is_first, (row_number() over () - 1) / 1000 as part from fresh_revisions
  ) as fresh
  group by part, is_first order by part;
  return null;
end
$$;

create trigger game_revisions_stream after insert on game_revisions
  referencing new table as fresh_revisions for each statement execute function stream_revisions();

-- Gives the oldest committed rows of a log without a position theirs, at most `at_most`, and returns their number. A row of
-- the stream has several events, and its position is that of the last. The lock makes another transaction that gives
-- positions wait; the next statement sees what it has placed. The numbers are drawn in a CTE that is `materialized`: a plan
-- may read a subquery again for each row, which would draw them again. Nested loops are off, because a plan made while no
-- row waits compares each waiting row with each: 10,000 took a minute. The function runs with the rights of its owner: an event
-- that another role could move would be missed. The locks are LOCKS.eventPositions and LOCKS.streamPositions in db/locks.ts.
create function place_events(log text, at_most integer) returns integer
language plpgsql security definer
set search_path = public, pg_temp
set enable_nestloop = off
as $$
declare
  placed integer;
begin
  if log = 'events' then
    perform pg_advisory_xact_lock(7205311849);
    with numbered as materialized (
      select event_number, nextval('event_positions') as position
      from (select event_number from events where position is null order by event_number limit at_most) as waiting
    )
    update events e set position = w.position from numbered w
    where e.position is null and e.event_number = w.event_number;
  else
    perform pg_advisory_xact_lock(7205311851);
    with numbered as materialized (
      select event_number, nextval('stream_positions') + size - 1 as position
      from (select event_number, size from stream_events where position is null order by event_number limit at_most) as waiting
    )
    update stream_events e set position = w.position from numbered w
    where e.position is null and e.event_number = w.event_number;
  end if;
  get diagnostics placed = row_count;
  return placed;
end
$$;

-- The platform's own content of a game.
create function stream_package() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  insert into stream_events (type, game_ids, revisions)
  values ('game.changed', array[new.game_id], array[new.revision]);
  return null;
end
$$;

create trigger games_stream after update of game_package_url on games for each row
  when (old.game_package_url is distinct from new.game_package_url)
  execute function stream_package();

-- A state that changed, or a new record, with the names of the fields that differ from the record before.
create function stream_kyc() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  fields text[] := (select changed_fields from kyc_records
    where application_id = new.application_id and received_at = new.pulled_at);
begin
  if fields is not null or new.state <> (case tg_op when 'UPDATE' then old.state else 'pending' end) then
    insert into stream_events (type, application_id, facts)
    values ('kyc.changed', new.application_id,
            jsonb_build_object('state', new.state, 'changed_fields', coalesce(fields, '{}')));
  end if;
  return null;
end
$$;

create trigger kyc_states_stream after insert or update of state, pulled_at on kyc_states
  for each row execute function stream_kyc();

create function stream_application() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  insert into stream_events (type, application_id)
  values (case
    when tg_op = 'INSERT' or old.status = 'removed' and new.status <> 'removed' then 'application.added'
    when old.status = new.status then 'application.updated'
    when new.status = 'removed' then 'application.removed'
    when new.status = 'paused' then 'application.paused'
    else 'application.resumed'
  end, new.application_id);
  return null;
end
$$;

create trigger applications_stream_insert after insert on applications
  for each row execute function stream_application();

-- Not called for what runs write: delays, and the time of the last success.
create trigger applications_stream_update after update on applications for each row
  when ((old.status, old.name, old.query_game_list_webhook, old.query_game_detail_webhook, old.query_cp_kyc_webhook,
         old.access_token, old.every_ms, old.kyc_every_ms, old.detail_max_age_ms, old.concurrency, old.rate,
         old.volatile_parameters)
    is distinct from
        (new.status, new.name, new.query_game_list_webhook, new.query_game_detail_webhook, new.query_cp_kyc_webhook,
         new.access_token, new.every_ms, new.kyc_every_ms, new.detail_max_age_ms, new.concurrency, new.rate,
         new.volatile_parameters))
  execute function stream_application();

create function stream_suspect_run() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  insert into stream_events (type, application_id, facts)
  values ('run.suspect', new.application_id, jsonb_build_object('run_id', new.run_id));
  return null;
end
$$;

create trigger sync_runs_stream after update of outcome on sync_runs for each row
  when (new.outcome = 'suspect' and old.outcome is distinct from 'suspect')
  execute function stream_suspect_run();

-- ---------------------------------------------------------------------------------------------------------------------
-- Threads and appeals: game_messages and game_appeals (db/schema/threads.ts)
--
-- The functions run with the rights of their owner, because they lock games and write events. Their messages are for the
-- person who wrote: GC002.
-- ---------------------------------------------------------------------------------------------------------------------

-- Refuses more texts than an application's developer may write within a day. The lock makes its other texts wait, so that
-- none is missed; applications are locked before games, as everywhere.
create function limit_developer(of_application text) returns void
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform refuse_snapshots();
  perform from applications where application_id = of_application for no key update;
  if 500 <= (select count(*) from game_messages
      where application_id = of_application and kind = 'answer' and written_at > now() - interval '24 hours')
    + (select count(*) from game_appeals where application_id = of_application and opened_at > now() - interval '24 hours')
  then
    raise exception 'Your application has written 500 texts within 24 hours: write again later.' using errcode = 'GC002';
  end if;
end
$$;

-- A thread has 200 entries, of which its developer writes half, so that an operator can always answer.
create function check_message() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  game games;
begin
  perform refuse_snapshots();
  new.application_id := (select application_id from games where game_id = new.game_id);
  if new.kind = 'answer' then
    -- The process that answers applications could name an operator.
    new.written_by := new.application_id;
    perform limit_developer(new.application_id);
  end if;
  select * into game from games where game_id = new.game_id for no key update;
  if game.game_id is null then
    raise exception 'There is no game %.', new.game_id using errcode = 'GC002';
  elsif game.withdrawn_at is not null and new.kind <> 'note' then
    raise exception 'The game is withdrawn: its application no longer lists it.' using errcode = 'GC002';
  elsif 200 <= (select count(*) from game_messages where game_id = new.game_id) then
    raise exception 'The thread of this game has 200 entries: it takes no more.' using errcode = 'GC002';
  elsif new.kind = 'answer' and 100 <= (select count(*) from game_messages where game_id = new.game_id and kind = 'answer')
  then
    raise exception 'You have written 100 entries in the thread of this game: it takes no more.' using errcode = 'GC002';
  end if;
  if new.kind = 'message' then
    perform send_event(game, 'game.message', 'message', jsonb_build_object('text', new.text));
  elsif new.kind = 'answer' then
    insert into stream_events (type, game_ids, revisions)
    values ('game.answered', array[game.game_id], array[game.revision]);
  end if;
  return new;
end
$$;

create trigger game_messages_checked before insert on game_messages for each row execute function check_message();

-- The standing decision of a game, or the one that it carries over.
create function first_decision(of_game uuid) returns table (audit_id bigint, decided_by text)
language sql stable
as $$
  with recursive chain as (
    select a.* from game_audits a where a.audit_id = (select s.audit_id from standing_decision(of_game) s)
    union all
    select former.* from game_audits former join chain on former.audit_id = chain.carried_over_from
  )
  select c.audit_id, c.decided_by from chain c where c.carried_over_from is null
$$;

-- Can the rejection of a game be appealed? As check_appeal decides.
create function may_appeal(of_game uuid) returns boolean
language sql stable
as $$
  select g.audit_status = 'rejected' and g.withdrawn_at is null and not exists (
    select from game_appeals p where p.audit_id = (select f.audit_id from first_decision(of_game) f))
  from games g where g.game_id = of_game
$$;

-- An appeal is about the standing rejection of a game, or the one that it carries over.
create function check_appeal() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  game games;
begin
  new.application_id := (select application_id from games where game_id = new.game_id);
  perform limit_developer(new.application_id);
  -- A decision waits for the appeal, or the appeal for the decision.
  select * into game from games where game_id = new.game_id for share;
  if game.audit_status is distinct from 'rejected' then
    raise exception 'The game is not rejected: there is nothing to appeal.' using errcode = 'GC002';
  elsif game.withdrawn_at is not null then
    raise exception 'The game is withdrawn: list it again, then appeal.' using errcode = 'GC002';
  end if;
  select * into strict new.audit_id, new.rejected_by from first_decision(new.game_id);
  if exists (select from game_appeals where audit_id = new.audit_id) then
    raise exception 'This rejection was appealed: a rejection is appealed once.' using errcode = 'GC002';
  end if;
  new.opened_at := now();
  insert into stream_events (type, game_ids, revisions)
  values ('game.appealed', array[game.game_id], array[game.revision]);
  return new;
end
$$;

create trigger game_appeals_checked before insert on game_appeals for each row execute function check_appeal();

-- An appeal is decided once, while the game is rejected, and never by who rejected the game.
create function check_appeal_decision() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  game games;
begin
  select * into game from games where game_id = old.game_id for share;
  if old.outcome is not null then
    raise exception 'The appeal was decided already, by %.', coalesce(old.decided_by, 'a later decision')
      using errcode = 'GC002';
  end if;
  new.decided_at := now();
  if new.outcome = 'void' then
    return new;
  end if;
  if lower(btrim(new.decided_by)) = lower(btrim(old.rejected_by)) then
    raise exception '% rejected the game: another reviewer decides the appeal.', old.rejected_by using errcode = 'GC002';
  elsif game.withdrawn_at is not null then
    raise exception 'The game is withdrawn: the appeal is decided when a listing names it again.' using errcode = 'GC002';
  elsif game.audit_status <> 'rejected' then
    raise exception 'The content has changed since the rejection: decide on the game, which waits for review.'
      using errcode = 'GC002';
  end if;
  if new.outcome = 'upheld' then
    perform send_event(game, 'game.appeal_upheld', 'appeal', jsonb_build_object('text', new.answer));
  end if;
  return new;
end
$$;

create trigger game_appeals_decided before update on game_appeals for each row execute function check_appeal_decision();

-- While a rejection is appealed, only the appeal decides on the game. A decision on content that has changed since voids
-- the appeal. Of a game that is not pending, `waiting_since` is null.
create function guard_appeal() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  if new.appeal_id is not null then
    perform from game_appeals
      where appeal_id = new.appeal_id and game_id = new.game_id and outcome = 'overturned'
        and decided_by = new.decided_by and decided_at = now() and new.audit_status = 'passed';
    if not found then
      raise exception 'The appeal % was not overturned by this decision.', new.appeal_id using errcode = 'check_violation';
    end if;
  elsif new.carried_over_from is null then
    if new.waiting_since is null and exists (select from game_appeals where game_id = new.game_id and outcome is null) then
      raise exception 'The rejection is appealed: another reviewer decides the appeal.' using errcode = 'GC002';
    end if;
    update game_appeals set outcome = 'void' where game_id = new.game_id and outcome is null;
  end if;
  return new;
end
$$;

create trigger game_audits_appeal before insert on game_audits for each row execute function guard_appeal();

-- A decision is on the content that the game shows: later content is compared with its revision (carry_over_decision), which
-- the worker wrote. One that is missing, or has other content, is written anew: no decision names it, and the foreign key
-- would refuse each. Queries of addresses may differ. The function runs with the rights of its owner, because not every role
-- that decides reads revisions.
create function keep_shown_revision() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  perform from games g left join game_revisions r using (game_id, revision)
    where g.game_id = new.game_id and g.revision = new.revision
      and ((r.game_name, r.game_desc, split_part(r.game_store_video, '?', 1), without_queries(r.game_icon),
            without_queries(r.game_store_pic))
        is distinct from
          (g.game_name, g.game_desc, split_part(g.game_store_video, '?', 1), without_queries(g.game_icon),
            without_queries(g.game_store_pic)));
  if found then
    delete from game_revisions where game_id = new.game_id and revision = new.revision;
    insert into game_revisions (
      game_id, revision, game_name, game_icon, game_desc, game_store_pic, game_store_video, content_hash, fetched_at)
    select game_id, revision, game_name, game_icon, game_desc, game_store_pic, game_store_video, content_hash, fetched_at
    from games where game_id = new.game_id;
  end if;
  return new;
end
$$;

create trigger game_audits_content before insert on game_audits for each row execute function keep_shown_revision();

-- The foreign key of game_audits would accept another revision in the same statement.
create function keep_decided_revision() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  perform refuse_snapshots();
  if exists (select from game_audits where game_id = old.game_id and revision = old.revision) then
    raise exception 'There is a decision on the revision % of the game %.', old.revision, old.game_id
      using errcode = 'insufficient_privilege';
  end if;
  return old;
end
$$;

create trigger game_revisions_decided before delete on game_revisions
  for each row execute function keep_decided_revision();

-- Neither an appealed rejection nor the decision of an appeal is undone.
create function keep_appeal() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  if new.appeal_id is not null then
    raise exception 'The decision is that of an appeal: decide on the game again instead.' using errcode = 'GC002';
  elsif new.audit_status = 'rejected'
    and exists (select from game_appeals where game_id = new.game_id and outcome is null) then
    raise exception 'The rejection is appealed: another reviewer decides the appeal.' using errcode = 'GC002';
  end if;
  return new;
end
$$;

create trigger game_audits_keep_appeal before update of undone_at on game_audits for each row
  when (old.undone_at is null and new.undone_at is not null)
  execute function keep_appeal();

-- What the metrics tell of appeals: those that wait for a decision.
create function count_appeals() returns table (open integer, oldest timestamptz)
language sql stable security definer
set search_path = public, pg_temp
as $$
  select count(*)::int, min(p.opened_at) from game_appeals p join games g using (game_id)
  where p.outcome is null and g.audit_status = 'rejected' and g.withdrawn_at is null
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Imports: imported_games (db/schema/imports.ts)
-- ---------------------------------------------------------------------------------------------------------------------

-- Applies what waits for the first pull of games: the decision, on the content that was pulled, and the package URL. The
-- function runs with the rights of its owner, because a worker may not decide. Its pins have pictures of their own until
-- the media process identifies them, which computes the ids of pictures (src/pictures/identify-pins.ts).
create function apply_imports() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  decisions bigint[];
begin
  if not exists (select from imported_games) then
    return null;
  end if;
  with waiting as (
    delete from imported_games i using fresh_revisions r, games g
    -- A stolen worker may add the first revision later, of a game that was decided meanwhile, or leave it to the decision,
    -- which adds it.
    where r.revision = 1 and g.game_id = r.game_id and g.revision = 1 and g.audit_status = 'pending'
      and i.application_id = g.application_id and i.application_game_id = g.application_game_id
    -- A game that cannot be passed now waits for review.
    returning i.*, r.game_id as stored_id,
              i.audit_status <> 'passed' or pass_obstacle(i.application_id) is null as may_apply
  ), applied as (
    update games g
    set audit_status = case when w.may_apply then w.audit_status else 'pending' end,
        audit_time = case when w.may_apply then w.audit_time end, game_package_url = w.game_package_url
    from waiting w where g.game_id = w.stored_id
  ), decided as (
    insert into game_audits (game_id, revision, audit_status, decided_by, reason, text, decided_at)
    select stored_id, 1, audit_status, decided_by, reason, text, audit_time from waiting
    where audit_status <> 'pending'
    returning audit_id
  )
  select array_agg(audit_id) into decisions from decided;
  with places as materialized (
    select a.audit_id, g.application_id, p.is_icon, p.place, p.url, gen_random_uuid() as picture_id
    from game_audits a join games g using (game_id) cross join lateral (
      select true as is_icon, place - 1 as place, url from unnest(g.game_icon) with ordinality as icons (url, place)
      union all
      select false, place - 1, url from unnest(g.game_store_pic) with ordinality as pics (url, place)
    ) as p
    where a.audit_id = any(decisions)
  ), pictured as (
    insert into pictures (picture_id, url) select picture_id, url from places
  ), pinned as (
    insert into picture_pins (audit_id, is_icon, place, picture_id)
    select audit_id, is_icon, place, picture_id from places
  )
  -- Inserts too: an update would not wait for the media process that is inserting the row.
  insert into picture_rules as r (application_id, tag, volatile_parameters, after)
  select application_id, '', '{}', min(audit_id) - 1 from places group by 1
  on conflict (application_id) do update set after = least(r.after, excluded.after);
  return null;
end
$$;

-- After game_revisions_stream, because triggers run in the order of their names: game.received is before game.passed.
create trigger game_revisions_waiting after insert on game_revisions
  referencing new table as fresh_revisions for each statement execute function apply_imports();

-- A game with the id of an imported one that waits would keep that one out, and be what others know by this id.
create function keep_imported_ids() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  perform refuse_snapshots();
  -- A subquery, because a join can read all imports before Postgres has analyzed the table.
  perform from fresh_games g
  where (select (i.application_id, i.application_game_id) <> (g.application_id, g.application_game_id)
    from imported_games i where i.game_id = g.game_id);
  if found then
    raise exception 'This id is of an imported game that waits for its first pull.' using errcode = 'insufficient_privilege';
  end if;
  return null;
end
$$;

create trigger games_imported_ids after insert on games
  referencing new table as fresh_games for each statement execute function keep_imported_ids();

-- ---------------------------------------------------------------------------------------------------------------------
-- Audit log: a chain of hashes that no role changes (db/schema/audit.ts)
-- ---------------------------------------------------------------------------------------------------------------------

-- The hash of an entry. The text of jsonb_build_object is the same for every session, because the time is in UTC.
create function audit_hash(entry audit_log) returns bytea
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select sha256(entry.previous_hash || convert_to(jsonb_build_object(
    'entry_id', entry.entry_id,
    'at', to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'actor', entry.actor, 'actor_kind', entry.actor_kind, 'os_user', entry.os_user,
    'action', entry.action, 'subject', entry.subject, 'reason', entry.reason, 'details', entry.details
  )::text, 'UTF8'))
$$;

-- Chains a new entry. The lock of the head lasts until the transaction ends, so entries are in the order of commits. The
-- function runs with the rights of its owner, because a role that inserts an entry may not change the head.
create function audit_log_chain() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  head audit_head;
begin
  select * into strict head from audit_head where is_single for update;
  new.entry_id := head.entry_id + 1;
  new.at := clock_timestamp();
  new.previous_hash := head.hash;
  new.hash := audit_hash(new);
  update audit_head set entry_id = new.entry_id, hash = new.hash where is_single;
  return new;
end
$$;

create function audit_log_refuse() returns trigger
language plpgsql
as $$
begin
  raise exception 'The audit log is append-only: % of % is refused.', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_log_chain before insert on audit_log for each row execute function audit_log_chain();
create trigger audit_log_append_only before update or delete on audit_log for each row execute function audit_log_refuse();
create trigger audit_log_no_truncate before truncate on audit_log for each statement execute function audit_log_refuse();
create trigger audit_head_kept before delete on audit_head for each row execute function audit_log_refuse();
create trigger audit_head_no_truncate before truncate on audit_head
  for each statement execute function audit_log_refuse();

-- Only a new entry moves the head: within audit_log_chain, this is the second trigger.
create trigger audit_head_follows before update on audit_head
  for each row when (pg_trigger_depth() < 1) execute function audit_log_refuse();

-- ---------------------------------------------------------------------------------------------------------------------
-- Database roles: what grants cannot say (db/roles.ts)
-- ---------------------------------------------------------------------------------------------------------------------

-- The roles of processes that the current user has, also a user with a name of its own that is a member of one. Empty for
-- the owner of the tables and for superusers, who may do everything.
create function process_roles() returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when pg_has_role(current_user, (select relowner from pg_class where oid = 'public.audit_log'::regclass), 'usage')
    then '{}'::text[]
    else array(select rolname::text from pg_roles
               where rolname in ('catalogue_worker', 'catalogue_api', 'catalogue_console', 'catalogue_media',
                                 'catalogue_kyc_desk', 'catalogue_operator', 'catalogue_operator_api')
                 and pg_has_role(current_user, oid, 'usage'))
  end
$$;

-- Keeps requests apart: the console writes those about reviewers, the console and the operator API those about
-- withdrawals, the KYC desk those about records. An administrator requests an officer at the console, and an officer approves
-- it at the desk: neither process makes an officer alone. A request ends once.
create function approvals_of_kyc() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
  writers constant text[] := case
    when new.kind = 'withdrawals' then array['catalogue_console', 'catalogue_operator_api']
    when new.kind = 'reviewer' or new.kind = 'officer' and tg_op = 'INSERT' then array['catalogue_console']
    when new.kind <> 'officer' or (new.approved_by, new.approved_at) is distinct from (old.approved_by, old.approved_at)
    then array['catalogue_kyc_desk']
    else array['catalogue_console', 'catalogue_kyc_desk']
  end;
begin
  if new.kind is not null and cardinality(roles) > 0
    and (not roles && (writers || array['catalogue_operator'])
      or old.used_at is distinct from new.used_at and old.used_at is not null
      or old.closed_at is distinct from new.closed_at and old.closed_at is not null) then
    raise exception 'The role % may not write requests of the kind %, or one that has ended.', current_user, new.kind
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger approvals_of_kyc before insert or update on approvals
  for each row execute function approvals_of_kyc();

-- A process writes entries of those who act in it, with what they do there. Names of processes are fixed, because a name
-- of a person would read as that person's act. No pattern has a backslash: with `standard_conforming_strings` off, which any
-- login may set, a literal loses it.
create function audit_log_actor() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
  -- Of a password: where it is set. The desk keeps those of officers.
  keeper text;
begin
  if new.action = 'operator.password' then
    keeper := coalesce((
      select case when 'kyc_officer' = any(o.roles) then 'catalogue_kyc_desk' else 'catalogue_console' end
      from operators o where 'operator:' || o.login = new.subject), 'catalogue_operator');
  end if;
  if cardinality(roles) > 0 and not exists (
    select from (values
      ('catalogue_worker', 'system', 'worker', '^(application[.](pause|resume)|event_webhook[.]off)$'),
      ('catalogue_worker', 'system', 'prune', '^kyc[.]expire$'),
      ('catalogue_media', 'system', 'media', '^game[.]reopen$'),
      ('catalogue_api', 'application', null, '^game[.](message|appeal)$'),
      ('catalogue_console', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_console', 'system', 'OIDC provider', '^operator[.](add|roles)$'),
      ('catalogue_console', 'operator', null, '^(?!kyc[.](?!pull$))'),
      ('catalogue_console', 'application', null, '^(?!kyc[.](?!pull$))'),
      ('catalogue_kyc_desk', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_kyc_desk', 'system', 'OIDC provider', '^operator[.](add|roles)$'),
      ('catalogue_kyc_desk', 'operator', null, '^(kyc|approval|session|access)[.]|^operator[.]password$'),
      ('catalogue_operator_api', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_operator_api', 'operator', null, '^(?!kyc[.](?!pull$)|approval[.]approve$|operator[.](add|roles|link|enable|password)$|session[.])'),
      ('catalogue_operator', 'system', 'catalogue', '^approval[.]void$'),
      ('catalogue_operator', 'command_line', null, '')
    ) as may (role, kind, name, actions)
    where role = any(roles) and kind = new.actor_kind and coalesce(name, new.actor) = new.actor and new.action ~ actions
      and new.action ~ '^[a-z_]+[.][a-z_]+$' and (kind = 'command_line' or new.os_user is null)
      and (keeper is null or role in (keeper, 'catalogue_operator'))
      -- Of a sign-in, and of a page that was refused: where. A sign-in of an application, at the portal, does not say it.
      and coalesce('catalogue_' || (new.details ->> 'site'),
        case when new.action <> 'access.refuse' and (new.action, new.actor_kind) <> ('session.sign_in', 'operator')
          then role end) = role
      -- A sign-in at the provider makes officers at the desk, and gives the other roles at the console.
      and not exists (
        select from jsonb_array_elements_text(
          case name when 'OIDC provider' then coalesce(new.details -> 'roles', new.details -> 'to') end) as given
        where not coalesce(new.details -> 'from', '[]') ? given
          and (given = 'kyc_officer') <> (role = 'catalogue_kyc_desk'))
      -- Of requests, as approvals_of_kyc keeps them apart: who approves or declines an officer is at the desk.
      and (new.action !~ '^approval[.]' or role = 'catalogue_operator'
        or role = any(case
          when new.subject like 'run:%' then array['catalogue_console', 'catalogue_operator_api']
          when new.action = 'approval.refuse' and new.subject like 'application:%' and new.details ->> 'kind' = 'withdrawals'
            then array['catalogue_console', 'catalogue_operator_api']
          when new.subject like 'application:%' then array['catalogue_kyc_desk']
          when new.subject like 'operator:%' then case
            when new.action in ('approval.void', 'approval.refuse')
            then array['catalogue_console', 'catalogue_kyc_desk']
            when new.details ->> 'kind' = 'officer' and new.action in ('approval.approve', 'approval.decline')
            then array['catalogue_kyc_desk']
            when new.details ->> 'kind' in ('officer', 'reviewer') then array['catalogue_console']
          end
        end))
  ) then
    raise exception 'The role % may not write to the audit log that % (%) did %.',
      current_user, new.actor, new.actor_kind, new.action
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger audit_log_actor before insert on audit_log for each row execute function audit_log_actor();

-- Refuses a change to the roles of processes. The arguments of the trigger are what they may not do, and the roles that
-- may.
create function refuse_to_roles() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
begin
  if cardinality(roles) > 0 and not roles && tg_argv[1:] then
    raise exception 'The role % may not %.', current_user, tg_argv[0] using errcode = 'insufficient_privilege';
  end if;
  return coalesce(new, old);
end
$$;

-- Only the console, the operator API and the command line decide. Worker and media, which read what applications send, return games to
-- `pending`. The conditions of the triggers keep ingest free of the function.
create trigger games_decided_insert before insert on games for each row
  when (new.audit_status <> 'pending')
  execute function refuse_to_roles('decide on games', 'catalogue_console', 'catalogue_operator', 'catalogue_operator_api');

create trigger games_decided_update before update of audit_status, audit_time on games for each row
  when (new.audit_status <> 'pending'
    and (new.audit_status <> old.audit_status or new.audit_time is distinct from old.audit_time))
  execute function refuse_to_roles('decide on games', 'catalogue_console', 'catalogue_operator', 'catalogue_operator_api');

-- Addresses without their queries: what signs an address may change.
create function without_queries(addresses text[]) returns text[]
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$ select array(select split_part(address, '?', 1) from unnest(addresses) with ordinality as a(address, place) order by place) $$;

-- A decision is about one content, so a worker that changes content also makes the next revision, which is pending.
create function keep_content() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if cardinality(process_roles()) > 0
    and (old.revision, old.game_name, old.game_desc, split_part(old.game_store_video, '?', 1),
         without_queries(old.game_icon), without_queries(old.game_store_pic))
      is distinct from
        (new.revision, new.game_name, new.game_desc, split_part(new.game_store_video, '?', 1),
         without_queries(new.game_icon), without_queries(new.game_store_pic)) then
    raise exception 'The role % may not change the content of a game without a next revision that is pending.', current_user
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

-- Called for writes that are no next revision. A write of an equal detail names none of these columns.
create trigger games_content_kept
  before update of revision, game_name, game_icon, game_desc, game_store_pic, game_store_video on games for each row
  when (not (new.audit_status = 'pending' and new.revision = old.revision + 1)
    and (new.revision, new.game_name, new.game_icon, new.game_desc, new.game_store_pic, new.game_store_video)
      is distinct from
        (old.revision, old.game_name, old.game_icon, old.game_desc, old.game_store_pic, old.game_store_video))
  execute function keep_content();

-- After the update: a trigger before it would lock the row at every end of a run, and locks are logged.
create trigger applications_removed after update of status on applications for each row
  when ((new.status = 'removed') <> (old.status = 'removed'))
  execute function refuse_to_roles('remove applications or add them again', 'catalogue_operator', 'catalogue_operator_api');

-- A decision is bound to bytes once: media fills a pin that waits for its first bytes.
create trigger picture_pins_kept before update of sha256 on picture_pins for each row
  when (old.sha256 is not null and new.sha256 is distinct from old.sha256)
  execute function refuse_to_roles('bind a decision to other bytes');

-- A stolen worker may store a longer address than applications have: no decision on the game could be bound to its picture.
create function cut_address() returns trigger
language plpgsql
as $$
begin
  new.url := left(new.url, 2048);
  return new;
end
$$;

create trigger pictures_address before insert or update of url on pictures for each row
  when (octet_length(new.url) > 8192)
  execute function cut_address();

-- Who decides makes a check due; only the media process, which looks for the games, finds that none is needed.
create trigger pictures_checked before update of next_check_at on pictures for each row
  when (old.next_check_at is not null and new.next_check_at is null)
  execute function refuse_to_roles('end the checks of a picture', 'catalogue_media');

-- Where the database does not know the bytes that a decision names, the API serves the address of the application.
create trigger picture_contents_kept before delete on picture_contents for each row
  when (old.pinned or old.stored is not null)
  execute function refuse_to_roles('forget pictures that a decision names or the store has');

-- A picture that lacks a thumbnail is decoded again, so a stolen worker blinds no reviewer for longer.
create function lose_thumbnails() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  update picture_contents set whole = false where whole and sha256 in (select sha256 from lost);
  return null;
end
$$;

create trigger picture_thumbnails_lost after delete on picture_thumbnails
  referencing old table as lost for each statement execute function lose_thumbnails();

create trigger picture_contents_whole before update of whole on picture_contents for each row
  when (new.whole and not old.whole)
  execute function refuse_to_roles('say that thumbnails are there', 'catalogue_media');

-- What operators write, their processes write; and only another decision voids an appeal.
create trigger game_messages_of_operators before insert on game_messages for each row
  when (new.kind <> 'answer')
  execute function refuse_to_roles('write to developers', 'catalogue_console', 'catalogue_operator', 'catalogue_operator_api');

create trigger game_appeals_void before update of outcome on game_appeals for each row
  when (new.outcome = 'void')
  execute function refuse_to_roles('void an appeal');

create trigger api_tokens_ended before update of revoked_at on api_tokens for each row
  when (old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at)
  execute function refuse_to_roles('revive a token');

-- Sessions of operators and flows of OIDC belong to the site that writes them: `console` is of catalogue_console.
create function bind_to_site() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
begin
  if cardinality(roles) > 0
    and not array['catalogue_' || new.site, 'catalogue_' || case tg_op when 'INSERT' then new.site else old.site end] <@ roles then
    raise exception 'The role % may not write sessions of another site.', current_user
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger operator_sessions_site before insert or update on operator_sessions
  for each row execute function bind_to_site();
create trigger oidc_flows_site before insert or update on oidc_flows
  for each row execute function bind_to_site();

-- From when an operator with these roles counts as the second person. `at_once` is of the command line: it makes the first
-- two who have a role.
create function second_person_from(of_login text, with_roles text[], at_once boolean) returns timestamptz
language sql stable
set search_path = public, pg_temp
as $$
  select case when at_once and not exists (
    select from unnest(with_roles) as role
    where role in ('kyc_officer', 'reviewer') and 2 <= (
      select count(*) from operators
      where login <> of_login and status = 'active' and role = any(roles) and counts_at <= now()))
    then now() else now() + interval '24 hours' end
$$;

-- No site makes an operator count earlier. Who is enabled again is new to the others, as who gets a role is. No writer ends
-- the rule of two persons by taking roles away: those that an operator had stay in held_roles.
create function count_after_a_day() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
  former constant text[] := case when tg_op = 'UPDATE' and old.status = 'active' then old.roles else '{}' end;
begin
  new.held_roles := array(
    select distinct unnest(case tg_op when 'UPDATE' then old.held_roles || old.roles end || new.roles));
  if cardinality(roles) = 0 or 'catalogue_operator' = any(roles) then
    return new;
  end if;
  if new.status = 'active' and exists (
    select from unnest(new.roles) as role where role in ('kyc_officer', 'reviewer') and role <> all(former)) then
    new.counts_at := now() + interval '24 hours';
  elsif tg_op = 'UPDATE' then
    new.counts_at := greatest(least(new.counts_at, now() + interval '24 hours'), old.counts_at);
  end if;
  return new;
end
$$;

create trigger operators_count before insert or update of roles, held_roles, status, counts_at on operators
  for each row execute function count_after_a_day();

-- Does this transaction use a request for this act on this operator, which a KYC officer has approved at the desk?
-- `with_roles`: those that were approved; null if the act gives none.
create function uses_officer_request(of_login text, of_act text, with_roles text[]) returns boolean
language sql stable
set search_path = public, pg_temp
as $$
  select exists (
    select from approvals
    where kind = 'officer' and subject = 'operator:' || of_login and requested ->> 'act' = of_act
      and (with_roles is null
        or requested -> 'roles' <@ to_jsonb(with_roles) and requested -> 'roles' @> to_jsonb(with_roles))
      and approved_by <> requested_by and approved_at > clock_timestamp() - interval '15 minutes' and used_at = now())
$$;

-- Who is an officer is decided by two sites. The console makes or enables one only by a request that another officer has
-- approved at the desk, and sets no password of an officer, or of a person of OIDC, who may become one at the desk. The
-- operator API disables operators, and enables none. The desk adds officers who sign in by OIDC and gives those the role,
-- takes any role from them, and sets passwords of officers. It gives no other role.
create function operators_of_sites() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
  by_oidc constant boolean := new.oidc_subject is not null;
  former constant text[] := case tg_op when 'INSERT' then '{}' else old.roles end;
  is_officer constant boolean := 'kyc_officer' = any(new.roles);
  was_officer constant boolean := 'kyc_officer' = any(former);
  same_password constant boolean := tg_op = 'INSERT' or new.password_hash is not distinct from old.password_hash;
  is_enabled constant boolean := tg_op = 'UPDATE' and new.status = 'active' and old.status <> 'active';
begin
  -- `end_links` would miss a new link.
  perform refuse_snapshots();
  if cardinality(roles) = 0 or 'catalogue_operator' = any(roles)
    or 'catalogue_console' = any(roles)
      and (not is_officer or was_officer
        or uses_officer_request(new.login, case tg_op when 'INSERT' then 'add' else 'roles' end, new.roles))
      and (same_password or not by_oidc and not is_officer and not was_officer)
      and (not is_enabled or not is_officer or uses_officer_request(new.login, 'enable', null))
    or 'catalogue_operator_api' = any(roles) and not is_enabled
    or 'catalogue_kyc_desk' = any(roles) and tg_op = 'INSERT' and by_oidc and new.roles <@ array['kyc_officer']
    or 'catalogue_kyc_desk' = any(roles) and tg_op = 'UPDATE'
      and (by_oidc or (new.name, new.roles) is not distinct from (old.name, old.roles))
      and new.roles <@ (former || array['kyc_officer'])
      and (same_password or not by_oidc and was_officer)
  then
    return new;
  end if;
  raise exception 'The role % may not change this of the operator %.', current_user, new.login
    using errcode = 'insufficient_privilege';
end
$$;

create trigger operators_of_sites before insert or update of name, roles, password_hash, status on operators
  for each row execute function operators_of_sites();

-- A link opens the sign-in of its operator, at the KYC desk too.
create function links_of_officers() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
  operator operators;
begin
  if cardinality(roles) = 0 or 'catalogue_operator' = any(roles) then
    return new;
  end if;
  -- Who becomes an officer waits for the link, which then ends, or the link for that.
  select * into operator from operators o where o.login = new.login for share;
  if operator.oidc_subject is not null
    or 'kyc_officer' = any(operator.roles) and not uses_officer_request(new.login, 'link', null)
      -- Who is added gets a link at once.
      and not (operator.created_at = now() and uses_officer_request(new.login, 'add', operator.roles)) then
    raise exception 'The role % may not open the sign-in of the operator %.', current_user, new.login
      using errcode = 'insufficient_privilege';
  end if;
  new.expires_at := least(new.expires_at, now() + interval '15 minutes');
  return new;
end
$$;

create trigger sign_in_links_of_officers before insert or update on sign_in_links
  for each row execute function links_of_officers();

-- A link that was made before its operator became an officer opens no sign-in of an officer.
create function end_links() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  delete from sign_in_links where login = new.login;
  return null;
end
$$;

create trigger operators_links after update of roles on operators for each row
  when ('kyc_officer' = any(new.roles) and 'kyc_officer' <> all(old.roles))
  execute function end_links();

-- ---------------------------------------------------------------------------------------------------------------------
-- Sessions of Postgres that stop others
-- ---------------------------------------------------------------------------------------------------------------------

-- Is a login a role of a process, or a member of one? The owner, who migrates, is not.
create function is_process(login oid) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select not pg_has_role(login, (select relowner from pg_class where oid = 'public.audit_log'::regclass), 'usage')
    and exists (
      select from pg_roles
      where rolname in ('catalogue_worker', 'catalogue_api', 'catalogue_console', 'catalogue_media', 'catalogue_kyc_desk',
                        'catalogue_operator', 'catalogue_operator_api') and pg_has_role(login, oid, 'member'))
$$;

-- The sessions of this database, those of others that block one of it, and those of our roles in any: an old transaction there
-- keeps what all databases share. For how long each blocks another one, and whether it is to end, because it is one of our
-- roles', and no process of ours keeps a transaction, a lock or a statement for so long (STATEMENT_MS in db/client.ts). An idle
-- session has a transaction while it cannot send a notification, because its client reads nothing. Who waits gives up after a
-- minute, and begins to wait again. The function runs with the rights of the owner. An owner who is no superuser sees neither
-- type nor state of a superuser's session, but what it blocks.
create function process_sessions() returns table (pid integer, login text, blocks_s double precision, is_overdue boolean)
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  with waiting as materialized (
    select l.pid, min(waitstart) as since from pg_locks l join pg_stat_activity a using (pid)
    where not granted and a.datname = current_database() group by 1
  ), blocking as (
    select b.pid, max(extract(epoch from clock_timestamp() - since)) as blocks_s
    from waiting w, unnest(pg_blocking_pids(w.pid)) as b (pid)
    -- Who waits for a shorter time than those behind it blocks them: it can begin to wait for another lock again and again.
    where not exists (select from waiting other where other.pid = b.pid and other.since <= w.since) group by 1
  )
  select s.pid, s.usename::text, coalesce(blocks_s, 0)::double precision,
         coalesce(case
           when clock_timestamp() - s.xact_start > interval '30 minutes' then true
           when s.state = 'active' then clock_timestamp() - s.query_start > interval '11 minutes'
             or blocks_s > 30 and clock_timestamp() - s.xact_start > interval '11 minutes'
           when blocks_s > 30 then true
           when s.state = 'idle' then clock_timestamp() - s.xact_start > interval '2 minutes'
             or clock_timestamp() - s.state_change > interval '1 minute'
             and s.pid in (select l.pid from pg_locks l where l.locktype = 'advisory')
           else clock_timestamp() - s.state_change > interval '2 minutes'
         end, false)
         and public.is_process(s.usesysid)
  from pg_stat_activity s left join blocking using (pid)
  where (s.datname = current_database() or blocks_s is not null or public.is_process(s.usesysid))
    and s.usename is not null and s.pid <> pg_backend_pid()
    and coalesce(s.backend_type, 'client backend') = 'client backend'
$$;

-- Ends the sessions that are to end, and returns how many. Among them are those whose advisory lock outlives a transaction,
-- as none of our locks does, although they run one statement after another: they have the same lock at each look within
-- two seconds, and are in no transaction or in a later one.
create function end_overdue_sessions() returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  began constant timestamptz := clock_timestamp();
  -- What each has.
  holders text[];
begin
  for look in 1 .. 10 loop
    holders := array(
      select holder from pg_locks, concat_ws(' ', pid, classid, objid, objsubid) as holder
      where locktype = 'advisory' and granted and pid <> pg_backend_pid() and (look = 1 or holder in (select unnest(holders))));
    exit when holders = '{}';
    perform pg_sleep(0.2);
  end loop;
  perform pg_stat_clear_snapshot();
  return (
    select count(*) filter (where pg_terminate_backend(pid))
    from public.process_sessions() join pg_stat_activity s using (pid)
    -- Of another login Postgres refuses to end a session, which would keep all others.
    where (pg_has_role(s.usesysid, 'usage') or pg_has_role('pg_signal_backend', 'usage')) and (is_overdue
      or pid::text in (select split_part(holder, ' ', 1) from unnest(holders) holder)
         and public.is_process(s.usesysid) and (s.xact_start is null or s.xact_start > began)));
end
$$;

-- What a stolen console or KYC desk leaves in the counts is forgotten after an hour, as any count, and no next attempt fails
-- because its count is the largest of its type.
create function bound_attempts() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  new.attempts := greatest(1, least(new.attempts, 1000000000));
  new.window_ends_at := greatest(now() - interval '1 hour', least(new.window_ends_at, now() + interval '1 hour'));
  return new;
end
$$;

create trigger sign_in_attempts_bound before insert or update on sign_in_attempts
  for each row execute function bound_attempts();

-- Counts a refusal of this caller within 15 minutes, for roles that may not change the other counts. Each login counts apart: a
-- stolen one would keep the refusals of another process from the audit log.
create function count_refusal(caller text) returns integer
language sql volatile security definer
set search_path = public, pg_temp
as $$
  insert into sign_in_attempts as a (attempt_key, attempts, window_ends_at)
  values ('refusals:' || session_user || ' ' || left(caller, 300), 1, now() + interval '15 minutes')
  on conflict (attempt_key) do update
    set attempts = case when a.window_ends_at <= now() then 1 else a.attempts + 1 end,
        window_ends_at = case when a.window_ends_at <= now() then excluded.window_ends_at else a.window_ends_at end
  returning attempts
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Verdicts on developers: kyc_verdicts (db/schema/kyc.ts)
--
-- The functions run with the rights of their owner: the worker, which replaces records, may write no verdict.
-- ---------------------------------------------------------------------------------------------------------------------

-- A verdict is on the record that is stored now.
create function bind_verdict() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  -- A removal ends the verdict, or comes before it.
  perform from applications where application_id = new.application_id and status <> 'removed' for share;
  if not found then
    raise exception 'There is no application %.', new.application_id using errcode = 'check_violation';
  end if;
  perform from kyc_records r join content_providers p using (cp_id)
  where r.application_id = new.application_id and r.record_id = new.record_id and p.replaced_at is null
  for share of r;
  if not found then
    raise exception 'The record % is not the current one of %.', new.record_id, new.application_id
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create trigger kyc_verdicts_bound before insert on kyc_verdicts for each row execute function bind_verdict();

create function refuse_ended_verdict() returns trigger
language plpgsql
as $$
begin
  raise exception 'The verdict % has ended.', old.verdict_id using errcode = 'insufficient_privilege';
end
$$;

create trigger kyc_verdicts_ended before update on kyc_verdicts for each row
  when (old.ended_at is not null)
  execute function refuse_ended_verdict();

-- Ends the open verdict of an application.
create function end_verdict(of_application text, how text) returns void
language sql
set search_path = public, pg_temp
as $$
  update kyc_verdicts set ended_at = clock_timestamp(), ended_as = case when expires_at <= now() then 'expired' else how end
  where application_id = of_application and ended_at is null
$$;

-- A new version of a record ends the verdict, unless it changes only fields that do not matter.
create function follow_kyc_record() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  -- Every other field matters, and so does cp_id.
  immaterial constant text[] := array['cp_short_name'];
begin
  if new.changed_fields <> '{}' and new.changed_fields <@ immaterial then
    update kyc_verdicts set record_id = new.record_id
    where application_id = new.application_id and ended_at is null and record_id = (
      select record_id from kyc_former_records where application_id = new.application_id
      order by replaced_at desc, record_id desc limit 1);
    if found then
      return null;
    end if;
  end if;
  perform end_verdict(new.application_id, 'changed');
  return null;
end
$$;

create trigger kyc_records_verdict after insert on kyc_records for each row execute function follow_kyc_record();

-- At the end of the transaction, because a record that is replaced is deleted first.
create function follow_erased_record() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  if not exists (select from kyc_records where application_id = old.application_id) then
    perform end_verdict(old.application_id, 'erased');
  end if;
  return null;
end
$$;

create constraint trigger kyc_records_erased after delete on kyc_records deferrable initially deferred
  for each row execute function follow_erased_record();

create function is_removed(of_application text) returns boolean
language sql stable
set search_path = public, pg_temp
as $$
  select status = 'removed' from applications where application_id = of_application
$$;

-- A statement judges by the applications as they were when it began. A lock reads what is committed: a removal, or an
-- application that is added again, waits for the row, or the row for it.
create function refuse_when_removed() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if cardinality(process_roles()) > 0 then
    perform refuse_snapshots();
    perform from applications where application_id = new.application_id and status <> 'removed' for key share;
    if not found then
      raise exception 'The role % may not bring back games of a removed application.', current_user
        using errcode = 'insufficient_privilege';
    end if;
  end if;
  return new;
end
$$;

-- A game comes back by a listing, and a removed application has none.
create trigger games_removed before update of withdrawn_at on games for each row
  when (old.withdrawn_at is not null and new.withdrawn_at is null)
  execute function refuse_when_removed();

create function refuse_erasure() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
begin
  if cardinality(roles) > 0 and not roles && array['catalogue_kyc_desk', 'catalogue_operator'] then
    perform refuse_snapshots();
    perform from applications where application_id = new.application_id and status = 'removed' for share;
    if not found or exists (select from kyc_records where application_id = new.application_id)
      or exists (select from kyc_former_records where application_id = new.application_id) then
      raise exception 'The role % may not erase a KYC record.', current_user using errcode = 'insufficient_privilege';
    end if;
  end if;
  return new;
end
$$;

-- An officer erases a record, or `prune`, which has deleted it, once its application is removed. It is pulled again only if an
-- operator allows it.
create trigger kyc_states_erased before insert or update of state on kyc_states for each row
  when (new.state = 'erased')
  execute function refuse_erasure();

create trigger kyc_states_reopened before update of state on kyc_states for each row
  when (old.state = 'erased' and new.state <> 'erased')
  execute function refuse_to_roles('pull an erased KYC record again', 'catalogue_kyc_desk', 'catalogue_operator',
                                   'catalogue_operator_api');

-- The state of an application whose record is erased says that nothing is stored. An erasure waits for the new record, or the
-- record for the erasure.
create function refuse_erased() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  state_now text;
begin
  perform refuse_snapshots();
  -- Before the first pull there is no row to lock.
  insert into kyc_states (application_id) values (new.application_id) on conflict do nothing;
  select state into state_now from kyc_states where application_id = new.application_id for share;
  if state_now = 'erased' and cardinality(process_roles()) > 0 then
    raise exception 'The KYC record of % is erased.', new.application_id using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger kyc_records_insert before insert on kyc_records for each row execute function refuse_erased();
create trigger kyc_former_records_insert before insert on kyc_former_records for each row execute function refuse_erased();

create function follow_provider() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  perform end_verdict(old.application_id, 'changed');
  return null;
end
$$;

create trigger content_providers_verdict after update of replaced_at on content_providers for each row
  when (old.replaced_at is null and new.replaced_at is not null)
  execute function follow_provider();

-- What waits for the first pull was decided on content that is not known: it does not pass what comes back later.
create function follow_removal() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  perform end_verdict(old.application_id, 'removed');
  delete from imported_games where application_id = old.application_id;
  return null;
end
$$;

create trigger applications_verdict after update of status on applications for each row
  when (old.status <> 'removed' and new.status = 'removed')
  execute function follow_removal();

-- Tells the platform's stream of verdicts: given, and ended. One that a later one replaces is not told: the later one is.
create function stream_verdict() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  insert into stream_events (type, application_id, facts)
  values ('kyc.verdict', new.application_id, jsonb_build_object(
    'verdict', new.verdict, 'verdict_state', coalesce(new.ended_as, 'standing')));
  return null;
end
$$;

create trigger kyc_verdicts_stream_insert after insert on kyc_verdicts for each row execute function stream_verdict();
create trigger kyc_verdicts_stream_update after update of ended_at on kyc_verdicts for each row
  when (old.ended_at is null and new.ended_at is not null and new.ended_as <> 'replaced')
  execute function stream_verdict();

-- Ends the failure of an application's KYC pull. The KYC desk calls it, which reads and deletes no failure of a game.
create function clear_kyc_failure(of_application text) returns void
language sql volatile security definer
set search_path = public, pg_temp
as $$
  delete from ingest_failures
  where application_id = of_application and operation = 'query_cp_kyc' and application_game_id = ''
$$;

-- Ends the verdicts whose time is over. They are void from their time on; this writes it down, for the stream. The worker
-- calls it, which may write no verdict.
create function end_expired_verdicts() returns integer
language sql volatile security definer
set search_path = public, pg_temp
as $$
  with ended as (
    update kyc_verdicts set ended_at = expires_at, ended_as = 'expired' where ended_at is null and expires_at <= now()
    returning 1
  )
  select count(*)::integer from ended
$$;

-- The applications with live games and without the verdict that games need. `until`: when the last verdict ended; null if
-- there was none, or another one stands.
create function unverified_applications()
returns table (application_id text, name text, verdict text, until timestamptz)
language sql stable
set search_path = public, pg_temp
as $$
  select a.application_id, a.name, last.verdict, case when not last.stands then last.until end
  from applications a left join lateral (
    select v.verdict, coalesce(v.ended_at, v.expires_at) as until, v.ended_at is null and v.expires_at > now() as stands
    from kyc_verdicts v where v.application_id = a.application_id order by v.verdict_id desc limit 1
  ) last on true
  where a.status <> 'removed' and (select games_need_verdict from decision_rules)
    and not (coalesce(last.stands, false) and last.verdict = 'verified')
    and exists (select from games g where g.application_id = a.application_id and g.audit_status = 'passed'
                and g.withdrawn_at is null)
$$;

-- What the metrics tell of verdicts. The function runs with the rights of its owner, so that a process that counts need
-- not read verdicts. `waiting`: records of a current cp_id on which no verdict stands.
create function count_verdicts()
returns table (unverified integer, ending integer, waiting integer, oldest_waiting timestamptz, held integer)
language sql stable security definer
set search_path = public, pg_temp
as $$
  select (select count(*)::int from unverified_applications()),
         (select count(*)::int from kyc_verdicts
          where ended_at is null and expires_at between now() and now() + interval '30 days'),
         waits.records, waits.since,
         (select count(*)::int from application_holds h join applications a using (application_id)
          where a.status <> 'removed')
  from (
    select count(*)::int as records, min(greatest(r.received_at, (
             select max(coalesce(v.ended_at, v.expires_at)) from kyc_verdicts v
             where v.application_id = r.application_id))) as since
    from kyc_records r join applications a using (application_id) join content_providers p using (cp_id)
    where a.status <> 'removed' and p.replaced_at is null and not exists (
      select from kyc_verdicts v
      where v.application_id = r.application_id and v.ended_at is null and v.expires_at > now())
  ) as waits
$$;

-- ---------------------------------------------------------------------------------------------------------------------
-- Keys
-- ---------------------------------------------------------------------------------------------------------------------

-- How many data keys each key-encryption key wraps, for the metrics. The function runs with the rights of its owner, so
-- that a process that counts wraps need not read sealed rows.
create function count_wraps() returns table (table_name text, key_id text, wraps integer)
language sql stable security definer
set search_path = public, pg_temp
as $$
  select 'kyc_keys', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_keys where data_keys <> '[]' group by 2
  union all select 'applications', access_token_keys -> 0 ->> 'key_id', count(*)::int
    from applications where access_token_keys <> '[]' group by 2
  union all select 'event_webhooks', wrap ->> 'key_id', count(*)::int
    from event_webhooks, jsonb_array_elements(secret_keys) as wrap group by 2
  union all select 'event_subscriptions', wrap ->> 'key_id', count(*)::int
    from event_subscriptions, jsonb_array_elements(secret_keys) as wrap group by 2
  union all select 'kyc_records', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_records where data_keys <> '[]' group by 2
  union all select 'kyc_former_records', data_keys -> 0 ->> 'key_id', count(*)::int
    from kyc_former_records where data_keys <> '[]' group by 2
$$;

-- Keeps the secret before a rotation until `former_until`: processes that may not read secrets rotate them. A stolen console
-- may leave no key, which `->` would make a null.
create function keep_former_secret() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  if new.secret is distinct from old.secret then
    new.former_secret := case when new.former_until > now() then old.secret end;
    if new.former_secret is not null then
      new.secret_keys := new.secret_keys || jsonb_path_query_array(old.secret_keys, '$[0]');
    end if;
  elsif new.former_secret is null then
    new.secret_keys := jsonb_path_query_array(new.secret_keys, '$[0]');
  end if;
  return new;
end
$$;

create trigger event_webhooks_secret before update of secret, former_secret on event_webhooks for each row
  execute function keep_former_secret();
create trigger event_subscriptions_secret before update of secret, former_secret on event_subscriptions for each row
  execute function keep_former_secret();

-- The console and the portal send the events of an application to an origin that it has given before. Another origin takes
-- the proof of an API token of the application, which the database does not have (src/rules/api-token.ts).
create function guard_event_address() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
begin
  perform refuse_snapshots();
  if cardinality(roles) > 0 and not roles && array['catalogue_operator', 'catalogue_operator_api']
    and not exists (
      select from event_origins(new.application_id) as known where known = event_origin(new.url))
    and not exists (
      select from api_tokens
      where application_id = new.application_id and revoked_at is null and coalesce(expires_at > clock_timestamp(), true)
        and token_hash = sha256(decode(current_setting('catalogue.token_proof', true), 'hex')))
  then
    raise exception 'The role % may not send the events of % to a new origin without an API token of it.',
      current_user, new.application_id
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

-- No subscription is ahead of the stream: a stolen worker would keep every later event from it.
create function keep_position() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
begin
  new.position := least(new.position, coalesce((select max(position) from stream_events), 0));
  return new;
end
$$;

create trigger event_subscriptions_position before insert or update of position on event_subscriptions
  for each row execute function keep_position();

-- The origin of an address as it is written: one that is written in another way counts as new.
create function event_origin(url text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select substring(url from '^https?://[^/?#]+')
$$;

-- The origins that an application has given: those of its webhooks and of its address for events.
create function event_origins(id text) returns setof text
language sql stable
set search_path = public, pg_temp
as $$
  select event_origin(url) from (
    select unnest(array[query_game_list_webhook, query_game_detail_webhook, query_cp_kyc_webhook]) as url
    from applications where application_id = id
    union all select url from event_webhooks where application_id = id
  ) as given
$$;

create trigger event_webhooks_address before insert or update of url, secret on event_webhooks for each row
  execute function guard_event_address();
