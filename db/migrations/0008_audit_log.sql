CREATE TABLE "audit_head" (
	"is_single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"entry_id" bigint NOT NULL,
	"hash" "bytea" NOT NULL,
	CONSTRAINT "audit_head_single" CHECK ("audit_head"."is_single")
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"entry_id" bigint PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"actor" text NOT NULL,
	"actor_kind" text NOT NULL,
	"os_user" text,
	"action" text NOT NULL,
	"subject" text NOT NULL,
	"reason" text,
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"previous_hash" "bytea" NOT NULL,
	"hash" "bytea" NOT NULL,
	CONSTRAINT "audit_log_actor_kind" CHECK ("audit_log"."actor_kind" in ('operator', 'command_line', 'application', 'system'))
);
--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ("actor","entry_id");--> statement-breakpoint
CREATE INDEX "audit_log_action" ON "audit_log" USING btree ("action","entry_id");--> statement-breakpoint
CREATE INDEX "audit_log_subject" ON "audit_log" USING btree ("subject","entry_id");--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "audit_log" USING btree ("at");--> statement-breakpoint
INSERT INTO "audit_head" ("entry_id", "hash") VALUES (0, decode(repeat('00', 32), 'hex')) ON CONFLICT DO NOTHING;--> statement-breakpoint
-- The hash of an entry. The text of jsonb_build_object is the same for every session: the time is in UTC.
create or replace function audit_hash(entry audit_log) returns bytea
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select sha256(entry.previous_hash || convert_to(jsonb_build_object(
    'entry_id', entry.entry_id,
    'at', to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'actor', entry.actor, 'actor_kind', entry.actor_kind, 'os_user', entry.os_user,
    'action', entry.action, 'subject', entry.subject, 'reason', entry.reason, 'details', entry.details
  )::text, 'UTF8'))
$$;--> statement-breakpoint
-- Chains a new entry. It locks the head until the transaction ends, so entries are in the order of commits. It runs with
-- the rights of its owner: who may insert an entry need not be able to change the head.
create or replace function audit_log_chain() returns trigger
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
$$;--> statement-breakpoint
create or replace function audit_log_refuse() returns trigger
language plpgsql
as $$
begin
  raise exception 'The audit log is append-only: % of % is refused.', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;--> statement-breakpoint
create or replace trigger audit_log_chain before insert on audit_log
  for each row execute function audit_log_chain();--> statement-breakpoint
create or replace trigger audit_log_append_only before update or delete on audit_log
  for each row execute function audit_log_refuse();--> statement-breakpoint
create or replace trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function audit_log_refuse();--> statement-breakpoint
create or replace trigger audit_head_kept before delete on audit_head
  for each row execute function audit_log_refuse();--> statement-breakpoint
create or replace trigger audit_head_no_truncate before truncate on audit_head
  for each statement execute function audit_log_refuse();--> statement-breakpoint
-- Only a new entry moves the head: within audit_log_chain, this is the second trigger.
create or replace trigger audit_head_follows before update on audit_head
  for each row when (pg_trigger_depth() < 1) execute function audit_log_refuse();
