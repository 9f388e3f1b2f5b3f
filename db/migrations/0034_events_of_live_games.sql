-- Writes the event of a game whose status changed, and its delivery if the application has an address. It runs with the
-- rights of its owner: who may change a game need not be able to write events. It runs at the end of the statement, so it
-- sees the decision of that statement. The removal of an application writes no events: no token may read them.
create or replace function record_event() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  id constant uuid := event_uuid();
  event_type text := 'game.' || new.audit_status;
  why text;
  rejection jsonb := '{}';
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
    why := case when new.revision = old.revision then 'pictures_changed' else 'content_changed' end;
  elsif old.withdrawn_at is not null and new.withdrawn_at is null then
    why := 'returned';
  else
    why := 'decided';
  end if;
  if new.audit_status = 'rejected' then
    -- A text without a code of `reasons` is from an earlier release and was written for operators.
    select jsonb_build_object('reason', coalesce(r.code, ''), 'reason_label', coalesce(r.label, ''),
                              'text', coalesce(case when r.code is not null then a.text end, ''))
    into rejection
    from game_audits a left join reasons r on r.code = a.reason
    where a.game_id = new.game_id and a.undone_at is null and a.audit_status = 'rejected'
    order by a.audit_id desc limit 1;
  end if;
  if why = 'returned' and new.audit_status = 'passed' then
    -- Pictures of a withdrawn game are not compared with its decision.
    update pictures set next_check_at = now()
    where picture_id in (
      select p.picture_id from picture_pins p join game_audits a using (audit_id)
      where a.game_id = new.game_id and a.undone_at is null);
  end if;
  insert into events (event_id, application_id, type, game_id, data, created_at)
  values (id, new.application_id, event_type, new.game_id, jsonb_build_object(
    'game_id', new.game_id,
    'application_game_id', new.application_game_id,
    'game_name', new.game_name,
    'audit_status', new.audit_status,
    'audit_time', coalesce(to_char(new.audit_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ''),
    'revision', new.revision,
    'why', why
  ) || coalesce(rejection, '{}'), clock_timestamp());
  insert into event_deliveries (event_id, application_id)
  select id, application_id from event_webhooks where application_id = new.application_id and status = 'active';
  return null;
end
$$;
--> statement-breakpoint
-- A withdrawn game writes no event: it is not in the catalogue, and its return tells its status. A decision that replaces
-- another one with the same status changes audit_time. A row trigger with a condition: ordinary writes of a worker do not
-- call it.
create or replace trigger games_events after update on games for each row
  when ((old.withdrawn_at is null or new.withdrawn_at is null) and (
    old.audit_status is distinct from new.audit_status or old.audit_time is distinct from new.audit_time
    or (old.withdrawn_at is null) is distinct from (new.withdrawn_at is null)))
  execute function record_event();
