-- The roles of processes (db/roles.ts) that the current user has, also a user with a name of its own that is a member of
-- one. Empty for the owner of the tables and for superusers, who may do everything.
create or replace function process_roles() returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when pg_has_role(current_user, (select relowner from pg_class where oid = 'public.audit_log'::regclass), 'usage')
    then '{}'::text[]
    else array(select rolname::text from pg_roles
               where rolname in ('catalogue_worker', 'catalogue_api', 'catalogue_console', 'catalogue_media',
                                 'catalogue_kyc_desk', 'catalogue_operator')
                 and pg_has_role(current_user, oid, 'usage'))
  end
$$;--> statement-breakpoint
-- Keeps requests about KYC records apart: the KYC desk writes those and no `withdrawals`, the console `withdrawals` only.
-- A user that is a member of a role is bound as the role itself.
create or replace function approvals_of_kyc() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
  writer constant text := case when new.kind = 'withdrawals' then 'catalogue_console' else 'catalogue_kyc_desk' end;
begin
  if new.kind is not null and cardinality(roles) > 0 and not roles && array[writer, 'catalogue_operator'] then
    raise exception 'The role % may not write requests of the kind %.', current_user, new.kind
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;--> statement-breakpoint
-- A process writes entries of those who act in it. The worker knows no operator, so it writes no entry of one.
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
  end;
begin
  if cardinality(roles) > 0 and not roles && writers then
    raise exception 'The role % may not write entries of the kind % to the audit log.', current_user, new.actor_kind
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;--> statement-breakpoint
create or replace trigger audit_log_actor before insert on audit_log
  for each row execute function audit_log_actor();--> statement-breakpoint
-- Only the console and the command line decide. Worker and media, which read what applications send, return games to
-- `pending`. The conditions keep ingest free of the function.
create or replace function games_decided() returns trigger
language plpgsql
set search_path = public, pg_temp
as $$
declare
  roles constant text[] := process_roles();
begin
  if cardinality(roles) > 0 and not roles && array['catalogue_console', 'catalogue_operator'] then
    raise exception 'The role % may not decide on games.', current_user using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;--> statement-breakpoint
create or replace trigger games_decided_insert before insert on games for each row
  when (new.audit_status <> 'pending')
  execute function games_decided();--> statement-breakpoint
create or replace trigger games_decided_update before update of audit_status on games for each row
  when (new.audit_status <> 'pending' and new.audit_status <> old.audit_status)
  execute function games_decided();
