-- A process writes entries of those who act in it. The worker knows no operator, so it writes no entry of one. The media
-- process, which reads pictures of anyone, writes that games return to review, and nothing else.
create or replace function audit_log_actor() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
  writers constant text[] := case new.actor_kind
    when 'operator' then array['catalogue_console', 'catalogue_kyc_desk']
    when 'application' then array['catalogue_console']
    when 'command_line' then array['catalogue_operator']
    else array['catalogue_worker', 'catalogue_console', 'catalogue_kyc_desk', 'catalogue_operator']
      || case when new.action <> 'game.reopen' then '{}'::text[] else array['catalogue_media'] end
  end;
begin
  if cardinality(roles) > 0 and not roles && writers then
    raise exception 'The role % may not write entries of the kind % with the action % to the audit log.',
      current_user, new.actor_kind, new.action
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
