-- Maintains changed_games and game_absences; db/schema/review.ts describes both. A row trigger with a condition: ordinary
-- writes of a worker do not call it.
create or replace function track_review() returns trigger
language plpgsql
as $$
declare
  decided_revision integer;
  -- A game whose decision was undone returns to its place in the lane.
  waiting_since timestamptz;
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
    insert into changed_games (game_id, application_id, decided_revision, since)
    values (new.game_id, new.application_id, decided_revision, coalesce(waiting_since, now()))
    on conflict (game_id) do nothing;
  end if;
  return null;
end
$$;
--> statement-breakpoint
-- The trigger and the games that changed before it existed, under one lock: no decision comes between.
do $$
begin
  lock table games in share row exclusive mode;
  create or replace trigger games_review after update on games for each row
    when (old.audit_status is distinct from new.audit_status
      or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null))
    execute function track_review();
  insert into changed_games (game_id, application_id, decided_revision, since)
  select distinct on (a.game_id) a.game_id, g.application_id, a.revision, g.updated_at
  from game_audits a join games g using (game_id)
  where g.audit_status = 'pending' and g.withdrawn_at is null
  order by a.game_id, a.audit_id desc
  on conflict (game_id) do nothing;
end
$$;
--> statement-breakpoint
insert into reasons (code, label, position) values
  ('incomplete', 'Information is missing or incomplete', 1),
  ('broken_media', 'An icon, a picture or the video does not load', 2),
  ('misleading', 'The name, text or pictures mislead about the game', 3),
  ('inappropriate', 'The content is not appropriate for the platform', 4),
  ('rights', 'Rights to the game, its name or its pictures are in doubt', 5),
  ('duplicate', 'The game is in the catalogue already', 6),
  ('other', 'Another reason, see the text', 7)
on conflict (code) do nothing;
