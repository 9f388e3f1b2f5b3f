CREATE TABLE "applications" (
	"application_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"query_game_list_webhook" text NOT NULL,
	"query_game_detail_webhook" text NOT NULL,
	"query_cp_kyc_webhook" text NOT NULL,
	"access_token" "bytea",
	"access_token_keys" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"every_ms" bigint NOT NULL,
	"kyc_every_ms" bigint NOT NULL,
	"detail_max_age_ms" bigint NOT NULL,
	"concurrency" integer NOT NULL,
	"rate" integer NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "applications_status" CHECK ("applications"."status" in ('active', 'paused', 'removed')),
	CONSTRAINT "applications_application_id" CHECK ("applications"."application_id" ~ '^[a-z0-9][a-z0-9-]{0,62}$')
);
--> statement-breakpoint
CREATE TABLE "ingest_failures" (
	"application_id" text NOT NULL,
	"operation" text NOT NULL,
	"application_game_id" text NOT NULL,
	"kind" text NOT NULL,
	"reasons" jsonb NOT NULL,
	"first_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_at" timestamp with time zone DEFAULT now() NOT NULL,
	"count" integer DEFAULT 1 NOT NULL,
	CONSTRAINT "ingest_failures_application_id_operation_application_game_id_pk" PRIMARY KEY("application_id","operation","application_game_id")
);
--> statement-breakpoint
CREATE TABLE "game_audits" (
	"audit_id" bigserial PRIMARY KEY NOT NULL,
	"game_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"audit_status" text NOT NULL,
	"decided_by" text NOT NULL,
	"reason" text,
	"decided_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "game_revisions" (
	"game_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"game_name" text NOT NULL,
	"game_icon" text[] NOT NULL,
	"game_desc" text NOT NULL,
	"game_store_video" text NOT NULL,
	"game_store_pic" text[] NOT NULL,
	"content_hash" text NOT NULL,
	"fetched_at" timestamp with time zone NOT NULL,
	CONSTRAINT "game_revisions_game_id_revision_pk" PRIMARY KEY("game_id","revision")
);
--> statement-breakpoint
CREATE TABLE "games" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"application_game_id" text NOT NULL,
	"game_name" text NOT NULL,
	"game_icon" text[] NOT NULL,
	"game_desc" text NOT NULL,
	"game_package_url" text DEFAULT '' NOT NULL,
	"game_store_video" text NOT NULL,
	"game_store_pic" text[] NOT NULL,
	"audit_status" text DEFAULT 'pending' NOT NULL,
	"audit_time" timestamp with time zone,
	"revision" integer DEFAULT 1 NOT NULL,
	"content_hash" text NOT NULL,
	"list_hash" text NOT NULL,
	"fetched_at" timestamp with time zone NOT NULL,
	"withdrawn_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "games_application_game" UNIQUE("application_id","application_game_id"),
	CONSTRAINT "games_audit_status_known" CHECK ("games"."audit_status" in ('pending', 'passed', 'rejected')),
	CONSTRAINT "games_audit_time" CHECK (("games"."audit_status" = 'pending') = ("games"."audit_time" is null))
);
--> statement-breakpoint
CREATE TABLE "sync_run_pages" (
	"run_id" uuid NOT NULL,
	"page_num" integer NOT NULL,
	"row_count" integer NOT NULL,
	"total" integer NOT NULL,
	"application_game_ids" text[] NOT NULL,
	"unnamed" integer DEFAULT 0 NOT NULL,
	"open_games" jsonb NOT NULL,
	"answered" integer DEFAULT 0 NOT NULL,
	"listed" integer DEFAULT 0 NOT NULL,
	"inserted" integer DEFAULT 0 NOT NULL,
	"updated" integer DEFAULT 0 NOT NULL,
	"unchanged" integer DEFAULT 0 NOT NULL,
	"invalid" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"missing" integer DEFAULT 0 NOT NULL,
	"listed_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sync_run_pages_run_id_page_num_pk" PRIMARY KEY("run_id","page_num")
);
--> statement-breakpoint
CREATE TABLE "sync_runs" (
	"run_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"trigger" text NOT NULL,
	"full" boolean DEFAULT false NOT NULL,
	"accept_withdrawals" boolean DEFAULT false NOT NULL,
	"outcome" text,
	"reason" text,
	"note" text,
	"fence" integer DEFAULT 1 NOT NULL,
	"next_page" integer DEFAULT 1 NOT NULL,
	"listing_end" text,
	"total_first" integer,
	"total_last" integer,
	"total_max" integer,
	"listed" integer DEFAULT 0 NOT NULL,
	"inserted" integer DEFAULT 0 NOT NULL,
	"updated" integer DEFAULT 0 NOT NULL,
	"unchanged" integer DEFAULT 0 NOT NULL,
	"invalid" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"missing" integer DEFAULT 0 NOT NULL,
	"withdrawn" integer DEFAULT 0 NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"progress_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone,
	CONSTRAINT "sync_runs_closed" CHECK (("sync_runs"."finished_at" is null) = ("sync_runs"."outcome" is null))
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"worker_id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "ingest_failures" ADD CONSTRAINT "ingest_failures_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_audits" ADD CONSTRAINT "game_audits_revision" FOREIGN KEY ("game_id","revision") REFERENCES "public"."game_revisions"("game_id","revision") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_revisions" ADD CONSTRAINT "game_revisions_game_id_games_game_id_fk" FOREIGN KEY ("game_id") REFERENCES "public"."games"("game_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "games" ADD CONSTRAINT "games_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_run_pages" ADD CONSTRAINT "sync_run_pages_run_id_sync_runs_run_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."sync_runs"("run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD CONSTRAINT "sync_runs_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "ingest_failures_last" ON "ingest_failures" USING btree ("last_at");--> statement-breakpoint
CREATE INDEX "game_audits_game" ON "game_audits" USING btree ("game_id");--> statement-breakpoint
CREATE INDEX "games_audit_status" ON "games" USING btree ("audit_status","game_id");--> statement-breakpoint
CREATE INDEX "sync_run_pages_open" ON "sync_run_pages" USING btree ("run_id","page_num") WHERE "sync_run_pages"."open_games" <> '{}'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "sync_runs_one_open" ON "sync_runs" USING btree ("application_id") WHERE "sync_runs"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "sync_runs_by_application" ON "sync_runs" USING btree ("application_id","run_id");--> statement-breakpoint
CREATE INDEX "sync_runs_by_finish" ON "sync_runs" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "workers_seen" ON "workers" USING btree ("seen_at");