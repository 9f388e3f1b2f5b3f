ALTER TABLE "game_audits" ADD COLUMN "carried_over_from" bigint;--> statement-breakpoint
ALTER TABLE "changed_games" ADD COLUMN "carry_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "changed_games_carry" ON "changed_games" USING btree ("carry_at") WHERE "changed_games"."carry_at" is not null;--> statement-breakpoint
-- As in 0010, with `carry_at`: a game whose content changed after its last decision, and on whose revision there was no
-- decision, is looked at by the media process.
create or replace function track_review() returns trigger
language plpgsql
as $$
declare
  decided_revision integer;
  -- A game whose decision was undone returns to its place in the lane.
  waiting_since timestamptz;
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
  decided_revision := (select a.revision from game_audits a
    where a.game_id = new.game_id and a.undone_at is null order by a.audit_id desc limit 1);
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
--> statement-breakpoint
create or replace trigger games_review after update on games for each row
  when (old.audit_status is distinct from new.audit_status
    or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null)
    or old.revision is distinct from new.revision)
  execute function track_review();
--> statement-breakpoint
-- Carries the last decision on a game over to its current revision, if nothing but addresses of pictures differs and
-- every picture has the bytes that the decision names. The media process calls it: it may not decide, so this function
-- checks what the tables can tell, and runs with the rights of its owner.
-- `places`: [{"is_icon", "place", "picture_id"}, …], the pictures of the game as it is now.
-- Returns the new decision; null if nothing was decided.
create or replace function carry_over_decision(carried_game uuid, carried_revision integer, decision bigint, places jsonb)
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
  select * into game from games where game_id = carried_game for update;
  select * into former from game_audits
    where game_id = carried_game and undone_at is null order by audit_id desc limit 1;
  if game.revision is distinct from carried_revision or game.audit_status <> 'pending' or game.withdrawn_at is not null
    or former.audit_id is distinct from decision or former.revision >= game.revision
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
  if cardinality(game.game_icon) + cardinality(game.game_store_pic) is distinct from (
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
