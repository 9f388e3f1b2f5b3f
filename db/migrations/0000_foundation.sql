CREATE TABLE "api_tokens" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"application_id" text,
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "api_tokens_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "api_tokens_hash" CHECK (octet_length("api_tokens"."token_hash") = 32)
);
--> statement-breakpoint
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
	"failed_runs" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp with time zone,
	"next_attempt_at" timestamp with time zone,
	"pause_reason" text,
	"last_success_at" timestamp with time zone,
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
CREATE TABLE "game_count_changes" (
	"application_id" text NOT NULL,
	"audit_status" text NOT NULL,
	"bucket" bigint NOT NULL,
	"games" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "game_counts" (
	"application_id" text NOT NULL,
	"audit_status" text NOT NULL,
	"level" smallint NOT NULL,
	"bucket" bigint NOT NULL,
	"games" bigint NOT NULL,
	CONSTRAINT "game_counts_application_id_audit_status_level_bucket_pk" PRIMARY KEY("application_id","audit_status","level","bucket"),
	CONSTRAINT "game_counts_level" CHECK ("game_counts"."level" between 0 and 5)
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
CREATE TABLE "content_providers" (
	"cp_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"application_cp_id" text NOT NULL,
	"mapped_at" timestamp with time zone DEFAULT now() NOT NULL,
	"accepted_by" text,
	"replaced_at" timestamp with time zone,
	CONSTRAINT "content_providers_application_cp" UNIQUE("application_id","application_cp_id")
);
--> statement-breakpoint
CREATE TABLE "kyc_access_log" (
	"entry_id" bigserial PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"record_id" uuid,
	"action" text NOT NULL,
	"accessed_by" text NOT NULL,
	"reason" text NOT NULL,
	"accessed_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "kyc_access_log_action" CHECK ("kyc_access_log"."action" in ('reveal', 'erase'))
);
--> statement-breakpoint
CREATE TABLE "kyc_former_records" (
	"record_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"cp_id" uuid NOT NULL,
	"cp_name" "bytea" NOT NULL,
	"cp_short_name" "bytea" NOT NULL,
	"legal_entity" "bytea" NOT NULL,
	"id_type" "bytea" NOT NULL,
	"id_number" "bytea" NOT NULL,
	"tax_id" "bytea" NOT NULL,
	"registered_address" "bytea" NOT NULL,
	"corporate_account" "bytea" NOT NULL,
	"opening_bank" "bytea" NOT NULL,
	"data_keys" jsonb NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"replaced_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "kyc_keys" (
	"purpose" text PRIMARY KEY NOT NULL,
	"data_keys" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "kyc_records" (
	"application_id" text PRIMARY KEY NOT NULL,
	"record_id" uuid NOT NULL,
	"cp_id" uuid NOT NULL,
	"cp_name" "bytea" NOT NULL,
	"cp_short_name" "bytea" NOT NULL,
	"legal_entity" "bytea" NOT NULL,
	"id_type" "bytea" NOT NULL,
	"id_number" "bytea" NOT NULL,
	"tax_id" "bytea" NOT NULL,
	"registered_address" "bytea" NOT NULL,
	"corporate_account" "bytea" NOT NULL,
	"opening_bank" "bytea" NOT NULL,
	"data_keys" jsonb NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"tax_id_fingerprint" "bytea",
	"received_at" timestamp with time zone NOT NULL,
	CONSTRAINT "kyc_records_record_id_unique" UNIQUE("record_id")
);
--> statement-breakpoint
CREATE TABLE "kyc_states" (
	"application_id" text PRIMARY KEY NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"asked_at" timestamp with time zone,
	"refused_cp_id" text,
	"reason" text,
	CONSTRAINT "kyc_states_known" CHECK ("kyc_states"."state" in ('pending', 'sealed', 'not_provided', 'cp_id_changed', 'failed', 'erased'))
);
--> statement-breakpoint
CREATE TABLE "sync_run_pages" (
	"run_id" uuid NOT NULL,
	"page_num" integer NOT NULL,
	"row_count" integer NOT NULL,
	"total" bigint NOT NULL,
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
	"row_count" integer DEFAULT 0 NOT NULL,
	"largest_page" integer DEFAULT 0 NOT NULL,
	"total_first" bigint,
	"total_last" bigint,
	"total_max" bigint,
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
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ingest_failures" ADD CONSTRAINT "ingest_failures_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_audits" ADD CONSTRAINT "game_audits_revision" FOREIGN KEY ("game_id","revision") REFERENCES "public"."game_revisions"("game_id","revision") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_revisions" ADD CONSTRAINT "game_revisions_game_id_games_game_id_fk" FOREIGN KEY ("game_id") REFERENCES "public"."games"("game_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "games" ADD CONSTRAINT "games_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "content_providers" ADD CONSTRAINT "content_providers_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_access_log" ADD CONSTRAINT "kyc_access_log_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_former_records" ADD CONSTRAINT "kyc_former_records_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_former_records" ADD CONSTRAINT "kyc_former_records_cp_id_content_providers_cp_id_fk" FOREIGN KEY ("cp_id") REFERENCES "public"."content_providers"("cp_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_records" ADD CONSTRAINT "kyc_records_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_records" ADD CONSTRAINT "kyc_records_cp_id_content_providers_cp_id_fk" FOREIGN KEY ("cp_id") REFERENCES "public"."content_providers"("cp_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_states" ADD CONSTRAINT "kyc_states_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_run_pages" ADD CONSTRAINT "sync_run_pages_run_id_sync_runs_run_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."sync_runs"("run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD CONSTRAINT "sync_runs_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "ingest_failures_last" ON "ingest_failures" USING btree ("last_at");--> statement-breakpoint
CREATE INDEX "game_audits_game" ON "game_audits" USING btree ("game_id");--> statement-breakpoint
CREATE INDEX "games_catalogue" ON "games" USING btree ("audit_status","game_id") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
CREATE INDEX "games_catalogue_application" ON "games" USING btree ("application_id","audit_status","game_id") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "content_providers_one_current" ON "content_providers" USING btree ("application_id") WHERE "content_providers"."replaced_at" is null;--> statement-breakpoint
CREATE INDEX "kyc_access_log_application" ON "kyc_access_log" USING btree ("application_id");--> statement-breakpoint
CREATE INDEX "kyc_former_records_application" ON "kyc_former_records" USING btree ("application_id");--> statement-breakpoint
CREATE INDEX "kyc_records_tax_id" ON "kyc_records" USING btree ("tax_id_fingerprint");--> statement-breakpoint
CREATE INDEX "sync_run_pages_open" ON "sync_run_pages" USING btree ("run_id","page_num") WHERE "sync_run_pages"."open_games" <> '{}'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "sync_runs_one_open" ON "sync_runs" USING btree ("application_id") WHERE "sync_runs"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "sync_runs_by_application" ON "sync_runs" USING btree ("application_id","run_id");--> statement-breakpoint
CREATE INDEX "sync_runs_by_finish" ON "sync_runs" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "workers_seen" ON "workers" USING btree ("seen_at");