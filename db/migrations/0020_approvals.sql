CREATE TABLE "approvals" (
	"approval_id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"version" text NOT NULL,
	"asked" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"reason" text NOT NULL,
	"asked_by" text NOT NULL,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"approved_by" text,
	"approved_at" timestamp with time zone,
	"used_at" timestamp with time zone,
	"closed_at" timestamp with time zone,
	"closed_as" text,
	CONSTRAINT "approvals_kind" CHECK ("approvals"."kind" in ('reveal', 'erase', 'cp-id', 'withdrawals')),
	CONSTRAINT "approvals_two_persons" CHECK ("approvals"."approved_by" <> "approvals"."asked_by"),
	CONSTRAINT "approvals_approved" CHECK (("approvals"."approved_at" is null) = ("approvals"."approved_by" is null)),
	CONSTRAINT "approvals_in_time" CHECK ("approvals"."approved_at" <= "approvals"."asked_at" + interval '1 hour'),
	CONSTRAINT "approvals_used_in_time" CHECK ("approvals"."used_at" is null or ("approvals"."approved_at" is not null and "approvals"."used_at" <= "approvals"."approved_at" + interval '15 minutes')),
	CONSTRAINT "approvals_one_end" CHECK ("approvals"."used_at" is null or "approvals"."closed_at" is null),
	CONSTRAINT "approvals_closed" CHECK (("approvals"."closed_at" is null) = ("approvals"."closed_as" is null))
);
--> statement-breakpoint
ALTER TABLE "operator_sessions" ADD COLUMN "confirmed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "kyc_former_records" ADD COLUMN "changed_fields" text[];--> statement-breakpoint
ALTER TABLE "kyc_records" ADD COLUMN "changed_fields" text[];--> statement-breakpoint
ALTER TABLE "kyc_records" ADD COLUMN "field_fingerprints" "bytea";--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_asked_by_operators_login_fk" FOREIGN KEY ("asked_by") REFERENCES "public"."operators"("login") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_approved_by_operators_login_fk" FOREIGN KEY ("approved_by") REFERENCES "public"."operators"("login") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_one_open" ON "approvals" USING btree ("kind","subject","asked_by") WHERE "approvals"."used_at" is null and "approvals"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "approvals_asked_at" ON "approvals" USING btree ("asked_at");--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "kyc_former_records_replaced_at";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "kyc_former_records_replaced_at" ON "kyc_former_records" USING btree ("replaced_at");--> statement-breakpoint
-- Keeps requests about KYC records apart: the KYC desk writes those and no `withdrawals`, the console `withdrawals` only.
create or replace function approvals_of_kyc() returns trigger
language plpgsql
as $$
begin
  if (current_user = 'catalogue_console' and new.kind <> 'withdrawals')
     or (current_user = 'catalogue_kyc_desk' and new.kind = 'withdrawals') then
    raise exception 'The role % may not write requests of the kind %.', current_user, new.kind
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;--> statement-breakpoint
create or replace trigger approvals_of_kyc before insert or update on approvals
  for each row execute function approvals_of_kyc();