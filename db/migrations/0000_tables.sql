CREATE SEQUENCE "public"."event_positions" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "public"."stream_positions" INCREMENT BY 1000 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "api_tokens" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"application_id" text,
	"login" text,
	"roles" text[],
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "api_tokens_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "api_tokens_hash" CHECK (octet_length("api_tokens"."token_hash") = 32),
	CONSTRAINT "api_tokens_owner" CHECK (num_nonnulls("api_tokens"."application_id", "api_tokens"."login") = 1 and ("api_tokens"."login" is null) = ("api_tokens"."roles" is null)),
	CONSTRAINT "api_tokens_texts" CHECK (greatest(octet_length("api_tokens"."name")) <= 20000)
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
	"volatile_parameters" text[] DEFAULT '{}' NOT NULL,
	"review_priority" text DEFAULT 'normal' NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"failed_runs" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp with time zone,
	"next_attempt_at" timestamp with time zone,
	"pause_reason" text,
	"last_success_at" timestamp with time zone,
	"details_due_at" timestamp with time zone,
	"details_full_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "applications_review_priority" CHECK ("applications"."review_priority" in ('high', 'normal', 'low')),
	CONSTRAINT "applications_status" CHECK ("applications"."status" in ('active', 'paused', 'removed')),
	CONSTRAINT "applications_counts" CHECK (least("applications"."failed_runs") >= 0 and greatest("applications"."failed_runs") <= 9007199254740991),
	CONSTRAINT "applications_texts" CHECK (greatest(octet_length("applications"."name"), octet_length("applications"."query_game_list_webhook"), octet_length("applications"."query_game_detail_webhook"), octet_length("applications"."query_cp_kyc_webhook"), octet_length("applications"."access_token"), octet_length("applications"."volatile_parameters"::text), octet_length("applications"."pause_reason")) <= 20000),
	CONSTRAINT "applications_times" CHECK (least("applications"."last_success_at", "applications"."failing_since") >= '1970-01-01Z' and greatest("applications"."last_success_at", "applications"."failing_since") < '10000-01-01Z'),
	CONSTRAINT "applications_pace" CHECK ("applications"."every_ms" between 1 and 2592000000 and "applications"."kyc_every_ms" between 1 and 2592000000
        and "applications"."detail_max_age_ms" between 0 and 31536000000
        and "applications"."concurrency" between 1 and 100 and "applications"."rate" between 1 and 100000),
	CONSTRAINT "applications_volatile_parameters" CHECK (("applications"."volatile_parameters" = '{}' or array_ndims("applications"."volatile_parameters") = 1 and array_lower("applications"."volatile_parameters", 1) = 1 and array_position("applications"."volatile_parameters", null) is null
          and cardinality("applications"."volatile_parameters") <= 100)),
	CONSTRAINT "applications_access_token_keys" CHECK ("applications"."access_token_keys" = jsonb_path_query_array("applications"."access_token_keys",
      'strict $[*] ? (@.key_id.type() == "string" && @.wrapped.type() == "string")', '{}', true)
      and octet_length("applications"."access_token_keys"::text) <= 20000),
	CONSTRAINT "applications_application_id" CHECK ("applications"."application_id" ~ '^[a-z0-9][a-z0-9-]{0,62}$')
);
--> statement-breakpoint
CREATE TABLE "approvals" (
	"approval_id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"version" text NOT NULL,
	"requested" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"reason" text NOT NULL,
	"requested_by" text NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"approved_by" text,
	"approved_at" timestamp with time zone,
	"used_at" timestamp with time zone,
	"closed_at" timestamp with time zone,
	"closed_as" text,
	CONSTRAINT "approvals_kind" CHECK ("approvals"."kind" in ('reveal', 'erase', 'cp-id', 'verdict', 'withdrawals', 'officer', 'reviewer')),
	CONSTRAINT "approvals_closed_as" CHECK ("approvals"."closed_as" in ('cancelled', 'declined', 'expired', 'void')),
	CONSTRAINT "approvals_subject" CHECK ("approvals"."subject" ~ case
        when "approvals"."kind" in ('officer', 'reviewer') then '^operator:[a-z0-9][a-z0-9._@+-]{0,99}$'
        when "approvals"."kind" = 'withdrawals' then '^run:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        else '^application:[a-z0-9-]{1,63}$' end),
	CONSTRAINT "approvals_texts" CHECK (greatest(octet_length("approvals"."version"), octet_length("approvals"."reason")) <= 20000),
	CONSTRAINT "approvals_request" CHECK (greatest(octet_length("approvals"."requested"::text)) <= 1000000),
	CONSTRAINT "approvals_requested" CHECK (jsonb_typeof("approvals"."requested") = 'object' and not jsonb_path_exists("approvals"."requested", 'strict $ ? (
        exists(@.game_ids ? (@.type() != "array")) || exists(@.game_ids[*] ? (@.type() != "string"))
        || exists(@.roles ? (@.type() != "array")) || exists(@.roles[*] ? (@.type() != "string"))
        || exists(@.act ? (@.type() != "string")) || exists(@.name ? (@.type() != "string"))
        || exists(@.verdict ? (@.type() != "string")) || exists(@.text ? (@.type() != "string"))
        || exists(@.expires ? (@.type() != "number")))', '{}', true)),
	CONSTRAINT "approvals_two_persons" CHECK ("approvals"."approved_by" <> "approvals"."requested_by"),
	CONSTRAINT "approvals_approved" CHECK (("approvals"."approved_at" is null) = ("approvals"."approved_by" is null)),
	CONSTRAINT "approvals_in_time" CHECK ("approvals"."approved_at" <= "approvals"."requested_at" + interval '1 hour'),
	CONSTRAINT "approvals_used_in_time" CHECK ("approvals"."used_at" is null or ("approvals"."approved_at" is not null and "approvals"."used_at" <= "approvals"."approved_at" + interval '15 minutes')),
	CONSTRAINT "approvals_one_end" CHECK ("approvals"."used_at" is null or "approvals"."closed_at" is null),
	CONSTRAINT "approvals_closed" CHECK (("approvals"."closed_at" is null) = ("approvals"."closed_as" is null))
);
--> statement-breakpoint
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
	CONSTRAINT "audit_log_actor_kind" CHECK ("audit_log"."actor_kind" in ('operator', 'command_line', 'application', 'system')),
	CONSTRAINT "audit_log_texts" CHECK (greatest(octet_length("audit_log"."actor"), octet_length("audit_log"."os_user"), octet_length("audit_log"."action"), octet_length("audit_log"."subject"), octet_length("audit_log"."reason")) <= 20000),
	CONSTRAINT "audit_log_facts" CHECK (greatest(octet_length("audit_log"."details"::text)) <= 1000000),
	CONSTRAINT "audit_log_details" CHECK (jsonb_typeof("audit_log"."details") = 'object')
);
--> statement-breakpoint
CREATE TABLE "event_deliveries" (
	"event_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_attempt_at" timestamp with time zone,
	"last_status" integer,
	"last_error" text,
	"delivered_at" timestamp with time zone,
	CONSTRAINT "event_deliveries_state" CHECK ("event_deliveries"."state" in ('pending', 'delivered', 'failed')),
	CONSTRAINT "event_deliveries_counts" CHECK (least("event_deliveries"."attempts", "event_deliveries"."last_status") >= 0 and greatest("event_deliveries"."attempts", "event_deliveries"."last_status") <= 9007199254740991),
	CONSTRAINT "event_deliveries_texts" CHECK (greatest(octet_length("event_deliveries"."last_error")) <= 20000),
	CONSTRAINT "event_deliveries_times" CHECK (least("event_deliveries"."requested_at") >= '1970-01-01Z' and greatest("event_deliveries"."requested_at") < '10000-01-01Z')
);
--> statement-breakpoint
CREATE TABLE "event_webhooks" (
	"application_id" text PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"secret" "bytea" NOT NULL,
	"former_secret" "bytea",
	"former_until" timestamp with time zone,
	"secret_keys" jsonb NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"off_reason" text,
	"off_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp with time zone,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_attempt_at" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"last_error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_webhooks_status" CHECK ("event_webhooks"."status" in ('active', 'off')),
	CONSTRAINT "event_webhooks_counts" CHECK (least("event_webhooks"."failures") >= 0 and greatest("event_webhooks"."failures") <= 9007199254740991),
	CONSTRAINT "event_webhooks_texts" CHECK (greatest(octet_length("event_webhooks"."url"), octet_length("event_webhooks"."off_reason"), octet_length("event_webhooks"."last_error"), octet_length("event_webhooks"."secret"), octet_length("event_webhooks"."former_secret")) <= 20000),
	CONSTRAINT "event_webhooks_times" CHECK (least("event_webhooks"."failing_since") >= '1970-01-01Z' and greatest("event_webhooks"."failing_since") < '10000-01-01Z'),
	CONSTRAINT "event_webhooks_secret_keys" CHECK ("event_webhooks"."secret_keys" = jsonb_path_query_array("event_webhooks"."secret_keys",
      'strict $[*] ? (@.key_id.type() == "string" && @.wrapped.type() == "string")', '{}', true)
      and octet_length("event_webhooks"."secret_keys"::text) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "events" (
	"event_id" uuid PRIMARY KEY NOT NULL,
	"event_number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "events_event_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"application_id" text NOT NULL,
	"type" text NOT NULL,
	"game_id" uuid NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"position" bigint,
	CONSTRAINT "events_application" UNIQUE("application_id","event_id"),
	CONSTRAINT "events_type" CHECK ("events"."type" in ('game.passed', 'game.rejected', 'game.pending', 'game.withdrawn', 'game.message', 'game.appeal_upheld', 'webhook.test'))
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
	"final" boolean DEFAULT false NOT NULL,
	"list_hash" text DEFAULT '' NOT NULL,
	CONSTRAINT "ingest_failures_application_id_operation_application_game_id_pk" PRIMARY KEY("application_id","operation","application_game_id"),
	CONSTRAINT "ingest_failures_operation" CHECK ("ingest_failures"."operation" in ('query_game_list', 'query_game_detail', 'query_cp_kyc')),
	CONSTRAINT "ingest_failures_counts" CHECK (least("ingest_failures"."count") >= 0 and greatest("ingest_failures"."count") <= 9007199254740991),
	CONSTRAINT "ingest_failures_texts" CHECK (greatest(octet_length("ingest_failures"."application_game_id"), octet_length("ingest_failures"."kind"), octet_length("ingest_failures"."reasons"::text), octet_length("ingest_failures"."list_hash")) <= 20000),
	CONSTRAINT "ingest_failures_reasons" CHECK ("ingest_failures"."reasons" = jsonb_path_query_array("ingest_failures"."reasons",
        'strict $[*] ? (@.path.type() == "string" && @.code.type() == "string")', '{}', true))
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
	"upto" integer[] NOT NULL,
	CONSTRAINT "game_counts_application_id_audit_status_level_bucket_pk" PRIMARY KEY("application_id","audit_status","level","bucket"),
	CONSTRAINT "game_counts_level" CHECK ("game_counts"."level" between 0 and 4)
);
--> statement-breakpoint
CREATE TABLE "game_audits" (
	"audit_id" bigserial PRIMARY KEY NOT NULL,
	"game_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"audit_status" text NOT NULL,
	"decided_by" text NOT NULL,
	"reason" text,
	"text" text,
	"note" text,
	"batch_id" uuid,
	"carried_over_from" bigint,
	"appeal_id" bigint,
	"waiting_since" timestamp with time zone,
	"decided_at" timestamp with time zone DEFAULT now() NOT NULL,
	"undone_at" timestamp with time zone,
	"undone_by" text,
	CONSTRAINT "game_audits_texts" CHECK (greatest(octet_length("game_audits"."decided_by"), octet_length("game_audits"."text"), octet_length("game_audits"."note"), octet_length("game_audits"."undone_by")) <= 20000),
	CONSTRAINT "game_audits_times" CHECK (least("game_audits"."waiting_since", "game_audits"."decided_at", "game_audits"."undone_at") >= '1970-01-01Z' and greatest("game_audits"."waiting_since", "game_audits"."decided_at", "game_audits"."undone_at") < '10000-01-01Z'),
	CONSTRAINT "game_audits_status" CHECK ("game_audits"."audit_status" in ('passed', 'rejected')),
	CONSTRAINT "game_audits_counts" CHECK (least("game_audits"."audit_id", "game_audits"."revision", "game_audits"."carried_over_from", "game_audits"."appeal_id") >= 0 and greatest("game_audits"."audit_id", "game_audits"."revision", "game_audits"."carried_over_from", "game_audits"."appeal_id") <= 9007199254740991)
);
--> statement-breakpoint
CREATE TABLE "game_revisions" (
	"game_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"game_name" text NOT NULL,
	"game_icon" text[] NOT NULL,
	"game_desc" text NOT NULL,
	"game_store_pic" text[] NOT NULL,
	"game_store_video" text NOT NULL,
	"content_hash" text NOT NULL,
	"fetched_at" timestamp with time zone NOT NULL,
	CONSTRAINT "game_revisions_game_id_revision_pk" PRIMARY KEY("game_id","revision"),
	CONSTRAINT "game_revisions_counts" CHECK (least("game_revisions"."revision") >= 0 and greatest("game_revisions"."revision") <= 9007199254740991),
	CONSTRAINT "game_revisions_texts" CHECK (greatest(octet_length("game_revisions"."game_name"), octet_length("game_revisions"."game_store_video"), octet_length("game_revisions"."content_hash")) <= 20000),
	CONSTRAINT "game_revisions_content" CHECK (greatest(octet_length("game_revisions"."game_desc"), octet_length("game_revisions"."game_icon"::text), octet_length("game_revisions"."game_store_pic"::text)) <= 1000000),
	CONSTRAINT "game_revisions_pictures" CHECK (("game_revisions"."game_icon" = '{}' or array_ndims("game_revisions"."game_icon") = 1 and array_lower("game_revisions"."game_icon", 1) = 1 and array_position("game_revisions"."game_icon", null) is null
          and cardinality("game_revisions"."game_icon") <= 100) and ("game_revisions"."game_store_pic" = '{}' or array_ndims("game_revisions"."game_store_pic") = 1 and array_lower("game_revisions"."game_store_pic", 1) = 1 and array_position("game_revisions"."game_store_pic", null) is null
          and cardinality("game_revisions"."game_store_pic") <= 100))
);
--> statement-breakpoint
CREATE TABLE "games" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"application_game_id" text NOT NULL,
	"game_name" text NOT NULL,
	"game_icon" text[] NOT NULL,
	"game_desc" text NOT NULL,
	"game_store_pic" text[] NOT NULL,
	"game_store_video" text NOT NULL,
	"game_package_url" text DEFAULT '' NOT NULL,
	"audit_status" text DEFAULT 'pending' NOT NULL,
	"audit_time" timestamp with time zone,
	"revision" integer DEFAULT 1 NOT NULL,
	"content_hash" text NOT NULL,
	"addresses_end_at" timestamp with time zone,
	"list_hash" text NOT NULL,
	"fetched_at" timestamp with time zone NOT NULL,
	"withdrawn_at" timestamp with time zone,
	"unlisted_at" timestamp with time zone,
	"search" "tsvector" DEFAULT '' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "games_application_game" UNIQUE("application_id","application_game_id"),
	CONSTRAINT "games_audit_status_known" CHECK ("games"."audit_status" in ('pending', 'passed', 'rejected')),
	CONSTRAINT "games_counts" CHECK (least("games"."revision") >= 0 and greatest("games"."revision") <= 9007199254740991),
	CONSTRAINT "games_keys" CHECK (greatest(octet_length("games"."application_game_id"), octet_length("games"."game_name")) <= 2048),
	CONSTRAINT "games_texts" CHECK (greatest(octet_length("games"."game_package_url"), octet_length("games"."list_hash"), octet_length("games"."game_store_video"), octet_length("games"."content_hash")) <= 20000),
	CONSTRAINT "games_content" CHECK (greatest(octet_length("games"."game_desc"), octet_length("games"."game_icon"::text), octet_length("games"."game_store_pic"::text)) <= 1000000),
	CONSTRAINT "games_pictures" CHECK (("games"."game_icon" = '{}' or array_ndims("games"."game_icon") = 1 and array_lower("games"."game_icon", 1) = 1 and array_position("games"."game_icon", null) is null
          and cardinality("games"."game_icon") <= 100) and ("games"."game_store_pic" = '{}' or array_ndims("games"."game_store_pic") = 1 and array_lower("games"."game_store_pic", 1) = 1 and array_position("games"."game_store_pic", null) is null
          and cardinality("games"."game_store_pic") <= 100)),
	CONSTRAINT "games_words" CHECK (length("games"."search") <= 100),
	CONSTRAINT "games_times" CHECK (least("games"."fetched_at", "games"."addresses_end_at") >= '1970-01-01Z' and greatest("games"."fetched_at", "games"."addresses_end_at") < '10000-01-01Z'),
	CONSTRAINT "games_audit_time" CHECK (("games"."audit_status" = 'pending') = ("games"."audit_time" is null))
);
--> statement-breakpoint
CREATE TABLE "search_words" (
	"word" text NOT NULL,
	"keys" text[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "oidc_flows" (
	"flow_hash" "bytea" PRIMARY KEY NOT NULL,
	"site" text NOT NULL,
	"state" text NOT NULL,
	"nonce" text NOT NULL,
	"code_verifier" text NOT NULL,
	"next" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "oidc_flows_site" CHECK ("oidc_flows"."site" in ('console', 'kyc_desk'))
);
--> statement-breakpoint
CREATE TABLE "operator_sessions" (
	"session_hash" "bytea" PRIMARY KEY NOT NULL,
	"login" text NOT NULL,
	"site" text NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"confirmed_at" timestamp with time zone,
	CONSTRAINT "operator_sessions_site" CHECK ("operator_sessions"."site" in ('console', 'kyc_desk'))
);
--> statement-breakpoint
CREATE TABLE "operators" (
	"login" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"roles" text[] NOT NULL,
	"held_roles" text[] DEFAULT '{}' NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"password_hash" text,
	"has_password" boolean GENERATED ALWAYS AS (password_hash is not null) STORED NOT NULL,
	"oidc_subject" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"counts_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_sign_in_at" timestamp with time zone,
	"single_keys" boolean DEFAULT true NOT NULL,
	CONSTRAINT "operators_oidc_subject_unique" UNIQUE("oidc_subject"),
	CONSTRAINT "operators_login" CHECK ("operators"."login" ~ '^(?!(unknown|catalogue)$)[a-z0-9][a-z0-9._@+-]{0,99}$'),
	CONSTRAINT "operators_status" CHECK ("operators"."status" in ('active', 'disabled')),
	CONSTRAINT "operators_texts" CHECK (greatest(octet_length("operators"."name"), octet_length("operators"."oidc_subject"), octet_length("operators"."roles"::text)) <= 20000),
	CONSTRAINT "operators_lists" CHECK (("operators"."roles" = '{}' or array_ndims("operators"."roles") = 1 and array_lower("operators"."roles", 1) = 1 and array_position("operators"."roles", null) is null
          and cardinality("operators"."roles") <= 100) and ("operators"."held_roles" = '{}' or array_ndims("operators"."held_roles") = 1 and array_lower("operators"."held_roles", 1) = 1 and array_position("operators"."held_roles", null) is null
          and cardinality("operators"."held_roles") <= 100)),
	CONSTRAINT "operators_password_hash" CHECK ("operators"."password_hash" ~ '^\$argon2id\$v=19\$m=([89]|[1-9][0-9]{1,4}),t=[1-4],p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$'),
	CONSTRAINT "operators_roles" CHECK ("operators"."roles" <@ array['viewer', 'reviewer', 'kyc_officer', 'admin'])
);
--> statement-breakpoint
CREATE TABLE "sign_in_attempts" (
	"attempt_key" text PRIMARY KEY NOT NULL,
	"attempts" integer NOT NULL,
	"window_ends_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_links" (
	"link_hash" "bytea" PRIMARY KEY NOT NULL,
	"login" text NOT NULL,
	"sets_password" boolean DEFAULT true NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "imported_games" (
	"application_id" text NOT NULL,
	"application_game_id" text NOT NULL,
	"game_id" uuid NOT NULL,
	"game_package_url" text NOT NULL,
	"audit_status" text NOT NULL,
	"audit_time" timestamp with time zone,
	"decided_by" text,
	"reason" text,
	"text" text,
	CONSTRAINT "imported_games_application_id_application_game_id_pk" PRIMARY KEY("application_id","application_game_id"),
	CONSTRAINT "imported_games_game_id_unique" UNIQUE("game_id"),
	CONSTRAINT "imported_games_audit_status" CHECK ("imported_games"."audit_status" in ('pending', 'passed', 'rejected')),
	CONSTRAINT "imported_games_decided" CHECK (("imported_games"."audit_status" = 'pending') = ("imported_games"."audit_time" is null)
        and ("imported_games"."audit_status" = 'pending') = ("imported_games"."decided_by" is null))
);
--> statement-breakpoint
CREATE TABLE "content_providers" (
	"cp_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"application_cp_id" text NOT NULL,
	"mapped_at" timestamp with time zone DEFAULT now() NOT NULL,
	"replaced_at" timestamp with time zone,
	CONSTRAINT "content_providers_application_cp" UNIQUE("application_id","application_cp_id"),
	CONSTRAINT "content_providers_texts" CHECK (greatest(octet_length("content_providers"."application_cp_id")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "decision_rules" (
	"is_single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"games_need_verdict" boolean DEFAULT false NOT NULL,
	"review_target_ms" bigint DEFAULT 172800000 NOT NULL,
	CONSTRAINT "decision_rules_one" CHECK ("decision_rules"."is_single")
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
	CONSTRAINT "kyc_access_log_action" CHECK ("kyc_access_log"."action" in ('reveal', 'erase')),
	CONSTRAINT "kyc_access_log_counts" CHECK (least("kyc_access_log"."entry_id") >= 0 and greatest("kyc_access_log"."entry_id") <= 9007199254740991),
	CONSTRAINT "kyc_access_log_texts" CHECK (greatest(octet_length("kyc_access_log"."accessed_by"), octet_length("kyc_access_log"."reason")) <= 20000)
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
	"replaced_at" timestamp with time zone DEFAULT now() NOT NULL,
	"changed_fields" text[] NOT NULL,
	CONSTRAINT "kyc_former_records_times" CHECK (least("kyc_former_records"."received_at") >= '1970-01-01Z' and greatest("kyc_former_records"."received_at") < '10000-01-01Z'),
	CONSTRAINT "kyc_former_records_data_keys" CHECK ("kyc_former_records"."data_keys" = jsonb_path_query_array("kyc_former_records"."data_keys",
      'strict $[*] ? (@.key_id.type() == "string" && @.wrapped.type() == "string")', '{}', true)
      and octet_length("kyc_former_records"."data_keys"::text) <= 20000),
	CONSTRAINT "kyc_former_records_changed_fields" CHECK (("kyc_former_records"."changed_fields" = '{}' or array_ndims("kyc_former_records"."changed_fields") = 1 and array_lower("kyc_former_records"."changed_fields", 1) = 1 and array_position("kyc_former_records"."changed_fields", null) is null
          and cardinality("kyc_former_records"."changed_fields") <= 100)),
	CONSTRAINT "kyc_former_records_sizes" CHECK (greatest(octet_length("kyc_former_records"."changed_fields"::text), octet_length("kyc_former_records"."cp_name"), octet_length("kyc_former_records"."cp_short_name"), octet_length("kyc_former_records"."legal_entity"), octet_length("kyc_former_records"."id_type"), octet_length("kyc_former_records"."id_number"), octet_length("kyc_former_records"."tax_id"), octet_length("kyc_former_records"."registered_address"), octet_length("kyc_former_records"."corporate_account"), octet_length("kyc_former_records"."opening_bank")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "kyc_keys" (
	"purpose" text PRIMARY KEY NOT NULL,
	"data_keys" jsonb NOT NULL,
	"public_key" "bytea",
	CONSTRAINT "kyc_keys_purpose" CHECK ("kyc_keys"."purpose" in ('fingerprint', 'events')),
	CONSTRAINT "kyc_keys_data_keys" CHECK ("kyc_keys"."data_keys" = jsonb_path_query_array("kyc_keys"."data_keys",
      'strict $[*] ? (@.key_id.type() == "string" && @.wrapped.type() == "string")', '{}', true)
      and octet_length("kyc_keys"."data_keys"::text) <= 20000),
	CONSTRAINT "kyc_keys_sizes" CHECK (greatest(octet_length("kyc_keys"."public_key")) <= 20000)
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
	"changed_fields" text[] NOT NULL,
	"field_fingerprints" "bytea" NOT NULL,
	CONSTRAINT "kyc_records_record_id_unique" UNIQUE("record_id"),
	CONSTRAINT "kyc_records_times" CHECK (least("kyc_records"."received_at") >= '1970-01-01Z' and greatest("kyc_records"."received_at") < '10000-01-01Z'),
	CONSTRAINT "kyc_records_data_keys" CHECK ("kyc_records"."data_keys" = jsonb_path_query_array("kyc_records"."data_keys",
      'strict $[*] ? (@.key_id.type() == "string" && @.wrapped.type() == "string")', '{}', true)
      and octet_length("kyc_records"."data_keys"::text) <= 20000),
	CONSTRAINT "kyc_records_changed_fields" CHECK (("kyc_records"."changed_fields" = '{}' or array_ndims("kyc_records"."changed_fields") = 1 and array_lower("kyc_records"."changed_fields", 1) = 1 and array_position("kyc_records"."changed_fields", null) is null
          and cardinality("kyc_records"."changed_fields") <= 100)),
	CONSTRAINT "kyc_records_sizes" CHECK (greatest(octet_length("kyc_records"."changed_fields"::text), octet_length("kyc_records"."cp_name"), octet_length("kyc_records"."cp_short_name"), octet_length("kyc_records"."legal_entity"), octet_length("kyc_records"."id_type"), octet_length("kyc_records"."id_number"), octet_length("kyc_records"."tax_id"), octet_length("kyc_records"."registered_address"), octet_length("kyc_records"."corporate_account"), octet_length("kyc_records"."opening_bank"), octet_length("kyc_records"."fingerprint"), octet_length("kyc_records"."tax_id_fingerprint"), octet_length("kyc_records"."field_fingerprints")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "kyc_states" (
	"application_id" text PRIMARY KEY NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"pulled_at" timestamp with time zone,
	"requested_at" timestamp with time zone,
	"refused_cp_id" text,
	"reason" text,
	CONSTRAINT "kyc_states_known" CHECK ("kyc_states"."state" in ('pending', 'sealed', 'not_provided', 'cp_id_changed', 'failed', 'erased')),
	CONSTRAINT "kyc_states_texts" CHECK (greatest(octet_length("kyc_states"."refused_cp_id"), octet_length("kyc_states"."reason")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "kyc_verdicts" (
	"verdict_id" bigserial PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"record_id" uuid NOT NULL,
	"verdict" text NOT NULL,
	"reason" text NOT NULL,
	"text" text,
	"decided_by" text NOT NULL,
	"decided_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	"ended_as" text,
	CONSTRAINT "kyc_verdicts_known" CHECK ("kyc_verdicts"."verdict" in ('verified', 'refused', 'incomplete')),
	CONSTRAINT "kyc_verdicts_ended_as" CHECK ("kyc_verdicts"."ended_as" in ('changed', 'erased', 'expired', 'removed', 'replaced')),
	CONSTRAINT "kyc_verdicts_counts" CHECK (least("kyc_verdicts"."verdict_id") >= 0 and greatest("kyc_verdicts"."verdict_id") <= 9007199254740991),
	CONSTRAINT "kyc_verdicts_texts" CHECK (greatest(octet_length("kyc_verdicts"."reason"), octet_length("kyc_verdicts"."text"), octet_length("kyc_verdicts"."decided_by")) <= 20000),
	CONSTRAINT "kyc_verdicts_times" CHECK (least("kyc_verdicts"."decided_at", "kyc_verdicts"."expires_at", "kyc_verdicts"."ended_at") >= '1970-01-01Z' and greatest("kyc_verdicts"."decided_at", "kyc_verdicts"."expires_at", "kyc_verdicts"."ended_at") < '10000-01-01Z'),
	CONSTRAINT "kyc_verdicts_ended" CHECK (("kyc_verdicts"."ended_at" is null) = ("kyc_verdicts"."ended_as" is null))
);
--> statement-breakpoint
CREATE TABLE "game_icon_hashes" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"dhash" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "picture_changes" (
	"game_id" uuid NOT NULL,
	"found_at" timestamp with time zone DEFAULT now() NOT NULL,
	"picture_id" uuid NOT NULL,
	"audit_id" bigint NOT NULL,
	"before" "bytea" NOT NULL,
	"after" "bytea" NOT NULL,
	CONSTRAINT "picture_changes_game_id_found_at_picture_id_pk" PRIMARY KEY("game_id","found_at","picture_id"),
	CONSTRAINT "picture_changes_counts" CHECK (least("picture_changes"."audit_id") >= 0 and greatest("picture_changes"."audit_id") <= 9007199254740991),
	CONSTRAINT "picture_changes_sizes" CHECK (greatest(octet_length("picture_changes"."before"), octet_length("picture_changes"."after")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "picture_contents" (
	"sha256" "bytea" PRIMARY KEY NOT NULL,
	"outcome" text NOT NULL,
	"bytes" integer NOT NULL,
	"format" text,
	"width" integer,
	"height" integer,
	"frames" integer,
	"dhash" bigint,
	"whole" boolean DEFAULT true NOT NULL,
	"pinned" boolean DEFAULT false NOT NULL,
	"stored" text,
	"looked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "picture_contents_outcome" CHECK ("picture_contents"."outcome" in ('shown', 'svg', 'not_an_image', 'broken', 'too_many_pixels', 'ambiguous', 'undecodable')),
	CONSTRAINT "picture_contents_texts" CHECK (greatest(octet_length("picture_contents"."sha256")) <= 20000),
	CONSTRAINT "picture_contents_stored" CHECK ("picture_contents"."stored" in ('seen', 'passed')),
	CONSTRAINT "picture_contents_format" CHECK ("picture_contents"."format" in ('png', 'jpeg', 'webp', 'avif', 'gif', 'svg')),
	CONSTRAINT "picture_contents_named" CHECK ("picture_contents"."stored" is null or (coalesce("picture_contents"."format", 'svg') <> 'svg' and octet_length("picture_contents"."sha256") = 32)),
	CONSTRAINT "picture_contents_counts" CHECK (least("picture_contents"."bytes", "picture_contents"."width", "picture_contents"."height", "picture_contents"."frames") >= 0 and greatest("picture_contents"."bytes", "picture_contents"."width", "picture_contents"."height", "picture_contents"."frames") <= 9007199254740991)
);
--> statement-breakpoint
CREATE TABLE "picture_pins" (
	"audit_id" bigint NOT NULL,
	"is_icon" boolean NOT NULL,
	"place" smallint NOT NULL,
	"picture_id" uuid NOT NULL,
	"sha256" "bytea",
	CONSTRAINT "picture_pins_audit_id_is_icon_place_pk" PRIMARY KEY("audit_id","is_icon","place"),
	CONSTRAINT "picture_pins_counts" CHECK (least("picture_pins"."audit_id") >= 0 and greatest("picture_pins"."audit_id") <= 9007199254740991),
	CONSTRAINT "picture_pins_place" CHECK ("picture_pins"."place" between 0 and 99),
	CONSTRAINT "picture_pins_sizes" CHECK (greatest(octet_length("picture_pins"."sha256")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "picture_rules" (
	"application_id" text PRIMARY KEY NOT NULL,
	"tag" text NOT NULL,
	"volatile_parameters" text[] NOT NULL,
	"after" bigint,
	CONSTRAINT "picture_rules_texts" CHECK (greatest(octet_length("picture_rules"."tag"), octet_length("picture_rules"."volatile_parameters"::text)) <= 20000),
	CONSTRAINT "picture_rules_volatile_parameters" CHECK (("picture_rules"."volatile_parameters" = '{}' or array_ndims("picture_rules"."volatile_parameters") = 1 and array_lower("picture_rules"."volatile_parameters", 1) = 1 and array_position("picture_rules"."volatile_parameters", null) is null
          and cardinality("picture_rules"."volatile_parameters") <= 100)),
	CONSTRAINT "picture_rules_numbers" CHECK (least("picture_rules"."after") >= -9007199254740991 and greatest("picture_rules"."after") <= 9007199254740991)
);
--> statement-breakpoint
CREATE TABLE "picture_thumbnails" (
	"sha256" "bytea" NOT NULL,
	"width" smallint NOT NULL,
	"webp" "bytea" NOT NULL,
	CONSTRAINT "picture_thumbnails_sha256_width_pk" PRIMARY KEY("sha256","width"),
	CONSTRAINT "picture_thumbnails_counts" CHECK (least("picture_thumbnails"."width") >= 0 and greatest("picture_thumbnails"."width") <= 9007199254740991),
	CONSTRAINT "picture_thumbnails_sizes" CHECK (greatest(octet_length("picture_thumbnails"."sha256"), octet_length("picture_thumbnails"."webp")) <= 8388608)
);
--> statement-breakpoint
CREATE TABLE "pictures" (
	"picture_id" uuid PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"sha256" "bytea",
	"outcome" text,
	"http_status" smallint,
	"note" text,
	"etag" text,
	"fetched_at" timestamp with time zone,
	"fresh_until" timestamp with time zone,
	"next_check_at" timestamp with time zone,
	CONSTRAINT "pictures_outcome" CHECK ("pictures"."outcome" in ('shown', 'svg', 'not_an_image', 'broken', 'too_many_pixels', 'ambiguous', 'undecodable', 'not_found', 'http_error', 'redirect', 'too_large', 'encoded', 'busy', 'timeout', 'forbidden_address', 'name_not_found', 'tls_failed', 'connect_failed', 'connection_lost', 'not_requested')),
	CONSTRAINT "pictures_counts" CHECK (least("pictures"."http_status") >= 0 and greatest("pictures"."http_status") <= 9007199254740991),
	CONSTRAINT "pictures_texts" CHECK (greatest(octet_length("pictures"."url"), octet_length("pictures"."note"), octet_length("pictures"."etag"), octet_length("pictures"."sha256")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "application_checks" (
	"check_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"requested_by" text NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"finished_at" timestamp with time zone,
	"passed" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"skipped" integer DEFAULT 0 NOT NULL,
	"cases" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"error" text,
	CONSTRAINT "application_checks_counts" CHECK (least("application_checks"."passed", "application_checks"."failed", "application_checks"."skipped") >= 0 and greatest("application_checks"."passed", "application_checks"."failed", "application_checks"."skipped") <= 9007199254740991),
	CONSTRAINT "application_checks_texts" CHECK (greatest(octet_length("application_checks"."requested_by"), octet_length("application_checks"."error")) <= 20000),
	CONSTRAINT "application_checks_report" CHECK (greatest(octet_length("application_checks"."cases"::text)) <= 1000000),
	CONSTRAINT "application_checks_cases" CHECK ("application_checks"."cases" = jsonb_path_query_array("application_checks"."cases", 'strict $[*] ? (@.name.type() == "string"
          && @.rule.type() == "string" && @.outcome.type() == "string")', '{}', true)
        and not jsonb_path_exists("application_checks"."cases", 'strict $[*].* ? (@.type() == "object" || @.type() == "array")', '{}', true))
);
--> statement-breakpoint
CREATE TABLE "detail_turns" (
	"application_id" text PRIMARY KEY NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	CONSTRAINT "detail_turns_times" CHECK (least("detail_turns"."ends_at") >= '1970-01-01Z' and greatest("detail_turns"."ends_at") < '10000-01-01Z')
);
--> statement-breakpoint
CREATE TABLE "portal_sessions" (
	"session_hash" "bytea" PRIMARY KEY NOT NULL,
	"token_id" uuid NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refresh_requests" (
	"application_id" text NOT NULL,
	"application_game_id" text NOT NULL,
	"is_full" boolean DEFAULT false NOT NULL,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"by_operator" boolean DEFAULT false NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	CONSTRAINT "refresh_requests_application_id_application_game_id_pk" PRIMARY KEY("application_id","application_game_id"),
	CONSTRAINT "refresh_requests_counts" CHECK (least("refresh_requests"."attempts") >= 0 and greatest("refresh_requests"."attempts") <= 9007199254740991),
	CONSTRAINT "refresh_requests_keys" CHECK (greatest(octet_length("refresh_requests"."application_game_id")) <= 2048),
	CONSTRAINT "refresh_requests_times" CHECK (least("refresh_requests"."requested_at") >= '1970-01-01Z' and greatest("refresh_requests"."requested_at") < '10000-01-01Z')
);
--> statement-breakpoint
CREATE TABLE "refresh_turns" (
	"application_id" text PRIMARY KEY NOT NULL,
	"next_at" timestamp with time zone NOT NULL,
	"idle_turns" smallint DEFAULT 0 NOT NULL,
	"stored_bytes" bigint DEFAULT 0 NOT NULL,
	"day_started_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "refresh_turns_counts" CHECK (least("refresh_turns"."idle_turns", "refresh_turns"."stored_bytes") >= 0 and greatest("refresh_turns"."idle_turns", "refresh_turns"."stored_bytes") <= 9007199254740991)
);
--> statement-breakpoint
CREATE TABLE "application_holds" (
	"application_id" text PRIMARY KEY NOT NULL,
	"reason" text NOT NULL,
	"held_by" text NOT NULL,
	"held_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "application_holds_texts" CHECK (greatest(octet_length("application_holds"."reason"), octet_length("application_holds"."held_by")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "changed_games" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"decided_revision" integer NOT NULL,
	"since" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"carry_at" timestamp with time zone,
	CONSTRAINT "changed_games_counts" CHECK (least("changed_games"."decided_revision") >= 0 and greatest("changed_games"."decided_revision") <= 9007199254740991),
	CONSTRAINT "changed_games_times" CHECK (least("changed_games"."since") >= '1970-01-01Z' and greatest("changed_games"."since") < '10000-01-01Z')
);
--> statement-breakpoint
CREATE TABLE "game_absences" (
	"game_id" uuid NOT NULL,
	"withdrawn_at" timestamp with time zone NOT NULL,
	"returned_at" timestamp with time zone,
	CONSTRAINT "game_absences_game_id_withdrawn_at_pk" PRIMARY KEY("game_id","withdrawn_at")
);
--> statement-breakpoint
CREATE TABLE "game_leases" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"holder" text NOT NULL,
	"claimed_from" uuid,
	"leased_until" timestamp with time zone NOT NULL,
	CONSTRAINT "game_leases_texts" CHECK (greatest(octet_length("game_leases"."holder")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "game_viewers" (
	"game_id" uuid NOT NULL,
	"viewer" text NOT NULL,
	"revision" integer NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "game_viewers_game_id_viewer_pk" PRIMARY KEY("game_id","viewer"),
	CONSTRAINT "game_viewers_counts" CHECK (least("game_viewers"."revision") >= 0 and greatest("game_viewers"."revision") <= 9007199254740991),
	CONSTRAINT "game_viewers_texts" CHECK (greatest(octet_length("game_viewers"."viewer")) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "held_games" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"audit_id" bigint NOT NULL,
	CONSTRAINT "held_games_counts" CHECK (least("held_games"."audit_id") >= 0 and greatest("held_games"."audit_id") <= 9007199254740991)
);
--> statement-breakpoint
CREATE TABLE "reasons" (
	"code" text PRIMARY KEY NOT NULL,
	"label" text NOT NULL,
	"text" text DEFAULT '' NOT NULL,
	"position" smallint NOT NULL,
	"retired_at" timestamp with time zone,
	CONSTRAINT "reasons_counts" CHECK (least("reasons"."position") >= 0 and greatest("reasons"."position") <= 9007199254740991),
	CONSTRAINT "reasons_texts" CHECK ("reasons"."code" ~ '^[a-z][a-z0-9_]{0,39}$' and char_length("reasons"."label") <= 200
        and char_length("reasons"."text") <= 4000)
);
--> statement-breakpoint
CREATE TABLE "vanishing_games" (
	"run_id" uuid NOT NULL,
	"game_id" uuid NOT NULL,
	CONSTRAINT "vanishing_games_run_id_game_id_pk" PRIMARY KEY("run_id","game_id")
);
--> statement-breakpoint
CREATE TABLE "run_days" (
	"application_id" text NOT NULL,
	"day" date NOT NULL,
	"outcome" text NOT NULL,
	"runs" integer NOT NULL,
	"listed" bigint NOT NULL,
	"inserted" bigint NOT NULL,
	"updated" bigint NOT NULL,
	"unchanged" bigint NOT NULL,
	"invalid" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"missing" bigint NOT NULL,
	"withdrawn" bigint NOT NULL,
	CONSTRAINT "run_days_application_id_day_outcome_pk" PRIMARY KEY("application_id","day","outcome"),
	CONSTRAINT "run_days_outcome" CHECK ("run_days"."outcome" in ('succeeded', 'partial', 'suspect', 'failed', 'abandoned')),
	CONSTRAINT "run_days_counts" CHECK (least("run_days"."runs", "run_days"."listed", "run_days"."inserted", "run_days"."updated", "run_days"."unchanged", "run_days"."invalid", "run_days"."failed", "run_days"."missing", "run_days"."withdrawn") >= 0 and greatest("run_days"."runs", "run_days"."listed", "run_days"."inserted", "run_days"."updated", "run_days"."unchanged", "run_days"."invalid", "run_days"."failed", "run_days"."missing", "run_days"."withdrawn") <= 9007199254740991),
	CONSTRAINT "run_days_day" CHECK ("run_days"."day" between '2000-01-01' and '9999-12-31')
);
--> statement-breakpoint
CREATE TABLE "sync_run_pages" (
	"run_id" uuid NOT NULL,
	"page_num" integer NOT NULL,
	"kind" text DEFAULT 'listed' NOT NULL,
	"reason" text,
	"row_count" integer NOT NULL,
	"total" bigint NOT NULL,
	"application_game_ids" text[] NOT NULL,
	"unnamed" integer DEFAULT 0 NOT NULL,
	"open_games" jsonb NOT NULL,
	"answered" integer DEFAULT 0 NOT NULL,
	"inserted" integer DEFAULT 0 NOT NULL,
	"updated" integer DEFAULT 0 NOT NULL,
	"invalid" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"missing" integer DEFAULT 0 NOT NULL,
	"listed" integer DEFAULT 0 NOT NULL,
	"unchanged" integer DEFAULT 0 NOT NULL,
	"withdrawn" integer DEFAULT 0 NOT NULL,
	"listed_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sync_run_pages_run_id_page_num_pk" PRIMARY KEY("run_id","page_num"),
	CONSTRAINT "sync_run_pages_texts" CHECK (greatest(octet_length("sync_run_pages"."reason")) <= 20000),
	CONSTRAINT "sync_run_pages_sizes" CHECK (greatest(octet_length("sync_run_pages"."application_game_ids"::text), octet_length("sync_run_pages"."open_games"::text)) <= 4000000),
	CONSTRAINT "sync_run_pages_kind" CHECK ("sync_run_pages"."kind" in ('listed', 'unread', 'unlisted')),
	CONSTRAINT "sync_run_pages_counts" CHECK (least("sync_run_pages"."page_num", "sync_run_pages"."row_count", "sync_run_pages"."unnamed", "sync_run_pages"."answered", "sync_run_pages"."listed", "sync_run_pages"."inserted", "sync_run_pages"."updated", "sync_run_pages"."unchanged", "sync_run_pages"."invalid", "sync_run_pages"."failed", "sync_run_pages"."missing", "sync_run_pages"."withdrawn") >= 0 and greatest("sync_run_pages"."page_num", "sync_run_pages"."row_count", "sync_run_pages"."unnamed", "sync_run_pages"."answered", "sync_run_pages"."listed", "sync_run_pages"."inserted", "sync_run_pages"."updated", "sync_run_pages"."unchanged", "sync_run_pages"."invalid", "sync_run_pages"."failed", "sync_run_pages"."missing", "sync_run_pages"."withdrawn") <= 9007199254740991),
	CONSTRAINT "sync_run_pages_numbers" CHECK (least("sync_run_pages"."total") >= -9007199254740991 and greatest("sync_run_pages"."total") <= 9007199254740991),
	CONSTRAINT "sync_run_pages_ids" CHECK (("sync_run_pages"."application_game_ids" = '{}' or array_ndims("sync_run_pages"."application_game_ids") = 1 and array_lower("sync_run_pages"."application_game_ids", 1) = 1 and array_position("sync_run_pages"."application_game_ids", null) is null
          and cardinality("sync_run_pages"."application_game_ids") <= 1000)),
	CONSTRAINT "sync_run_pages_open_games" CHECK (jsonb_typeof("sync_run_pages"."open_games") = 'object'
        and not jsonb_path_exists("sync_run_pages"."open_games", 'strict $.* ? (@.type() != "string")', '{}', true))
);
--> statement-breakpoint
CREATE TABLE "sync_runs" (
	"run_id" uuid PRIMARY KEY NOT NULL,
	"run_number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "sync_runs_run_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"application_id" text NOT NULL,
	"trigger" text NOT NULL,
	"full" boolean DEFAULT false NOT NULL,
	"accept_withdrawals" boolean DEFAULT false NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"fence" integer DEFAULT 1 NOT NULL,
	"stored_bytes" bigint DEFAULT 0 NOT NULL,
	"storable_bytes" bigint,
	"storable_games" integer,
	"withdrawn" integer DEFAULT 0 NOT NULL,
	"inserted" integer DEFAULT 0 NOT NULL,
	"updated" integer DEFAULT 0 NOT NULL,
	"invalid" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"missing" integer DEFAULT 0 NOT NULL,
	"listed" integer DEFAULT 0 NOT NULL,
	"unchanged" integer DEFAULT 0 NOT NULL,
	"outcome" text,
	"fault" text,
	"reason" text,
	"note" text,
	"finished_at" timestamp with time zone,
	"listing_end" text,
	"total_first" bigint,
	"total_last" bigint,
	"total_max" bigint,
	"largest_page" integer DEFAULT 0 NOT NULL,
	"row_count" integer DEFAULT 0 NOT NULL,
	"next_page" integer DEFAULT 1 NOT NULL,
	"listed_bytes" bigint DEFAULT 0 NOT NULL,
	"progress_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sync_runs_closed" CHECK (("sync_runs"."finished_at" is null) = ("sync_runs"."outcome" is null)),
	CONSTRAINT "sync_runs_texts" CHECK (greatest(octet_length("sync_runs"."reason"), octet_length("sync_runs"."note")) <= 20000),
	CONSTRAINT "sync_runs_trigger" CHECK ("sync_runs"."trigger" in ('schedule', 'manual', 'refresh')),
	CONSTRAINT "sync_runs_outcome" CHECK ("sync_runs"."outcome" in ('succeeded', 'partial', 'suspect', 'failed', 'abandoned')),
	CONSTRAINT "sync_runs_fault" CHECK ("sync_runs"."fault" in ('unreachable', 'application', 'worker', 'keys', 'none')),
	CONSTRAINT "sync_runs_listing_end" CHECK ("sync_runs"."listing_end" in ('complete', 'repeated', 'page_cap')),
	CONSTRAINT "sync_runs_counts" CHECK (least("sync_runs"."run_number", "sync_runs"."fence", "sync_runs"."stored_bytes", "sync_runs"."listed", "sync_runs"."inserted", "sync_runs"."updated", "sync_runs"."unchanged", "sync_runs"."invalid", "sync_runs"."failed", "sync_runs"."missing", "sync_runs"."withdrawn", "sync_runs"."largest_page", "sync_runs"."row_count", "sync_runs"."next_page", "sync_runs"."listed_bytes") >= 0 and greatest("sync_runs"."run_number", "sync_runs"."fence", "sync_runs"."stored_bytes", "sync_runs"."listed", "sync_runs"."inserted", "sync_runs"."updated", "sync_runs"."unchanged", "sync_runs"."invalid", "sync_runs"."failed", "sync_runs"."missing", "sync_runs"."withdrawn", "sync_runs"."largest_page", "sync_runs"."row_count", "sync_runs"."next_page", "sync_runs"."listed_bytes") <= 9007199254740991),
	CONSTRAINT "sync_runs_numbers" CHECK (least("sync_runs"."storable_bytes", "sync_runs"."storable_games", "sync_runs"."total_first", "sync_runs"."total_last", "sync_runs"."total_max") >= -9007199254740991 and greatest("sync_runs"."storable_bytes", "sync_runs"."storable_games", "sync_runs"."total_first", "sync_runs"."total_last", "sync_runs"."total_max") <= 9007199254740991)
);
--> statement-breakpoint
CREATE TABLE "event_subscriptions" (
	"subscription_id" uuid PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"types" text[] NOT NULL,
	"secret" "bytea" NOT NULL,
	"former_secret" "bytea",
	"former_until" timestamp with time zone,
	"secret_keys" jsonb NOT NULL,
	"position" bigint NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"off_reason" text,
	"off_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"failing_since" timestamp with time zone,
	"next_attempt_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_attempt_at" timestamp with time zone,
	"last_success_at" timestamp with time zone,
	"last_error" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "event_subscriptions_status" CHECK ("event_subscriptions"."status" in ('active', 'off')),
	CONSTRAINT "event_subscriptions_counts" CHECK (least("event_subscriptions"."failures", "event_subscriptions"."position") >= 0 and greatest("event_subscriptions"."failures", "event_subscriptions"."position") <= 9007199254740991),
	CONSTRAINT "event_subscriptions_texts" CHECK (greatest(octet_length("event_subscriptions"."url"), octet_length("event_subscriptions"."off_reason"), octet_length("event_subscriptions"."last_error"), octet_length("event_subscriptions"."secret"), octet_length("event_subscriptions"."former_secret"), octet_length("event_subscriptions"."types"::text)) <= 20000),
	CONSTRAINT "event_subscriptions_times" CHECK (least("event_subscriptions"."failing_since") >= '1970-01-01Z' and greatest("event_subscriptions"."failing_since") < '10000-01-01Z'),
	CONSTRAINT "event_subscriptions_lists" CHECK (("event_subscriptions"."types" = '{}' or array_ndims("event_subscriptions"."types") = 1 and array_lower("event_subscriptions"."types", 1) = 1 and array_position("event_subscriptions"."types", null) is null
          and cardinality("event_subscriptions"."types") <= 100)),
	CONSTRAINT "event_subscriptions_types" CHECK ("event_subscriptions"."types" <@ array['game.passed', 'game.rejected', 'game.pending', 'game.withdrawn', 'game.message', 'game.appeal_upheld', 'game.received', 'game.changed', 'game.answered', 'game.appealed', 'kyc.changed', 'kyc.verdict', 'application.added', 'application.updated', 'application.paused', 'application.resumed', 'application.removed', 'run.suspect']),
	CONSTRAINT "event_subscriptions_secret_keys" CHECK ("event_subscriptions"."secret_keys" = jsonb_path_query_array("event_subscriptions"."secret_keys",
      'strict $[*] ? (@.key_id.type() == "string" && @.wrapped.type() == "string")', '{}', true)
      and octet_length("event_subscriptions"."secret_keys"::text) <= 20000)
);
--> statement-breakpoint
CREATE TABLE "stream_events" (
	"event_number" bigint GENERATED ALWAYS AS IDENTITY (sequence name "stream_events_event_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"event_id" uuid,
	"type" text NOT NULL,
	"application_id" text,
	"size" smallint DEFAULT 1 NOT NULL,
	"game_ids" uuid[],
	"revisions" integer[],
	"facts" jsonb,
	"created_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"position" bigint,
	CONSTRAINT "stream_events_position" UNIQUE("position")
);
--> statement-breakpoint
CREATE TABLE "game_appeals" (
	"appeal_id" bigserial PRIMARY KEY NOT NULL,
	"game_id" uuid NOT NULL,
	"application_id" text NOT NULL,
	"audit_id" bigint NOT NULL,
	"rejected_by" text NOT NULL,
	"text" text NOT NULL,
	"opened_at" timestamp with time zone DEFAULT now() NOT NULL,
	"outcome" text,
	"decided_by" text,
	"answer" text,
	"decided_at" timestamp with time zone,
	CONSTRAINT "game_appeals_rejection" UNIQUE("audit_id"),
	CONSTRAINT "game_appeals_outcome" CHECK ("game_appeals"."outcome" in ('upheld', 'overturned', 'void')),
	CONSTRAINT "game_appeals_texts" CHECK (greatest(octet_length("game_appeals"."decided_by")) <= 20000),
	CONSTRAINT "game_appeals_decided" CHECK (("game_appeals"."outcome" is null) = ("game_appeals"."decided_at" is null)
        and coalesce("game_appeals"."outcome" in ('upheld', 'overturned'), false) = ("game_appeals"."decided_by" is not null)
        and ("game_appeals"."decided_by" is null) = ("game_appeals"."answer" is null)),
	CONSTRAINT "game_appeals_text" CHECK (char_length("game_appeals"."text") between 1 and 4000 and char_length("game_appeals"."answer") between 1 and 4000)
);
--> statement-breakpoint
CREATE TABLE "game_messages" (
	"message_id" bigserial PRIMARY KEY NOT NULL,
	"game_id" uuid NOT NULL,
	"application_id" text NOT NULL,
	"kind" text NOT NULL,
	"written_by" text NOT NULL,
	"text" text NOT NULL,
	"written_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "game_messages_kind" CHECK ("game_messages"."kind" in ('note', 'message', 'answer')),
	CONSTRAINT "game_messages_texts" CHECK (greatest(octet_length("game_messages"."written_by")) <= 20000),
	CONSTRAINT "game_messages_text" CHECK (char_length("game_messages"."text") between 1 and 4000)
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"worker_id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"queue" text NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workers_counts" CHECK (least("workers"."pid") >= 0 and greatest("workers"."pid") <= 9007199254740991),
	CONSTRAINT "workers_texts" CHECK (greatest(octet_length("workers"."host"), octet_length("workers"."queue")) <= 20000)
);
--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_login_operators_login_fk" FOREIGN KEY ("login") REFERENCES "public"."operators"("login") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_requested_by_operators_login_fk" FOREIGN KEY ("requested_by") REFERENCES "public"."operators"("login") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "approvals" ADD CONSTRAINT "approvals_approved_by_operators_login_fk" FOREIGN KEY ("approved_by") REFERENCES "public"."operators"("login") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_event" FOREIGN KEY ("application_id","event_id") REFERENCES "public"."events"("application_id","event_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_webhooks" ADD CONSTRAINT "event_webhooks_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ingest_failures" ADD CONSTRAINT "ingest_failures_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_audits" ADD CONSTRAINT "game_audits_reason_reasons_code_fk" FOREIGN KEY ("reason") REFERENCES "public"."reasons"("code") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_audits" ADD CONSTRAINT "game_audits_keep_revision" FOREIGN KEY ("game_id","revision") REFERENCES "public"."game_revisions"("game_id","revision") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "game_revisions" ADD CONSTRAINT "game_revisions_game_id_games_game_id_fk" FOREIGN KEY ("game_id") REFERENCES "public"."games"("game_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "games" ADD CONSTRAINT "games_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "operator_sessions" ADD CONSTRAINT "operator_sessions_login_operators_login_fk" FOREIGN KEY ("login") REFERENCES "public"."operators"("login") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_links" ADD CONSTRAINT "sign_in_links_login_operators_login_fk" FOREIGN KEY ("login") REFERENCES "public"."operators"("login") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "imported_games" ADD CONSTRAINT "imported_games_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "imported_games" ADD CONSTRAINT "imported_games_reason_reasons_code_fk" FOREIGN KEY ("reason") REFERENCES "public"."reasons"("code") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "content_providers" ADD CONSTRAINT "content_providers_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_access_log" ADD CONSTRAINT "kyc_access_log_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_former_records" ADD CONSTRAINT "kyc_former_records_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_former_records" ADD CONSTRAINT "kyc_former_records_cp_id_content_providers_cp_id_fk" FOREIGN KEY ("cp_id") REFERENCES "public"."content_providers"("cp_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_records" ADD CONSTRAINT "kyc_records_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_records" ADD CONSTRAINT "kyc_records_cp_id_content_providers_cp_id_fk" FOREIGN KEY ("cp_id") REFERENCES "public"."content_providers"("cp_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_states" ADD CONSTRAINT "kyc_states_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "kyc_verdicts" ADD CONSTRAINT "kyc_verdicts_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "picture_pins" ADD CONSTRAINT "picture_pins_audit_id_game_audits_audit_id_fk" FOREIGN KEY ("audit_id") REFERENCES "public"."game_audits"("audit_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "application_checks" ADD CONSTRAINT "application_checks_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "portal_sessions" ADD CONSTRAINT "portal_sessions_token_id_api_tokens_token_id_fk" FOREIGN KEY ("token_id") REFERENCES "public"."api_tokens"("token_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_requests" ADD CONSTRAINT "refresh_requests_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "application_holds" ADD CONSTRAINT "application_holds_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "vanishing_games" ADD CONSTRAINT "vanishing_games_run_id_sync_runs_run_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."sync_runs"("run_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "run_days" ADD CONSTRAINT "run_days_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sync_runs" ADD CONSTRAINT "sync_runs_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_tokens_login" ON "api_tokens" USING btree ("login");--> statement-breakpoint
CREATE INDEX "applications_prioritized" ON "applications" USING btree ("application_id") WHERE "applications"."review_priority" <> 'normal';--> statement-breakpoint
CREATE UNIQUE INDEX "approvals_one_open" ON "approvals" USING btree ("kind","subject","requested_by") WHERE "approvals"."used_at" is null and "approvals"."closed_at" is null;--> statement-breakpoint
CREATE INDEX "approvals_requested_at" ON "approvals" USING btree ("requested_at");--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ("actor","entry_id");--> statement-breakpoint
CREATE INDEX "audit_log_action" ON "audit_log" USING btree ("action","entry_id");--> statement-breakpoint
CREATE INDEX "audit_log_subject" ON "audit_log" USING btree ("subject","entry_id");--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "audit_log" USING btree ("at");--> statement-breakpoint
CREATE INDEX "event_deliveries_due" ON "event_deliveries" USING btree ("application_id","next_attempt_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "event_deliveries_failed" ON "event_deliveries" USING btree ("application_id") WHERE state = 'failed';--> statement-breakpoint
CREATE UNIQUE INDEX "events_position" ON "events" USING btree ("application_id","position");--> statement-breakpoint
CREATE INDEX "events_without_position" ON "events" USING btree ("event_number") WHERE "events"."position" is null;--> statement-breakpoint
CREATE INDEX "events_game" ON "events" USING btree ("game_id");--> statement-breakpoint
CREATE INDEX "events_created" ON "events" USING brin ("created_at");--> statement-breakpoint
CREATE INDEX "ingest_failures_last" ON "ingest_failures" USING btree ("last_at");--> statement-breakpoint
CREATE INDEX "game_audits_game" ON "game_audits" USING btree ("game_id");--> statement-breakpoint
CREATE INDEX "game_audits_decided" ON "game_audits" USING btree ("decided_at","decided_by");--> statement-breakpoint
CREATE INDEX "game_audits_batch" ON "game_audits" USING btree ("batch_id") WHERE "game_audits"."batch_id" is not null;--> statement-breakpoint
CREATE INDEX "games_pages" ON "games" USING btree ("audit_status","game_id","game_name","audit_time") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
CREATE INDEX "games_pages_application" ON "games" USING btree ("application_id","audit_status","game_id","game_name","audit_time") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
CREATE INDEX "games_rejected" ON "games" USING btree ("application_id","audit_time","game_id") WHERE "games"."audit_status" = 'rejected' and "games"."withdrawn_at" is null;--> statement-breakpoint
CREATE INDEX "games_withdrawn" ON "games" USING btree ("application_id","withdrawn_at","game_id") WHERE "games"."withdrawn_at" is not null;--> statement-breakpoint
CREATE INDEX "games_search" ON "games" USING gin ("search") WITH (gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "search_words_word" ON "search_words" USING btree ("word");--> statement-breakpoint
CREATE INDEX "search_words_keys" ON "search_words" USING gin ("keys") WITH (gin_pending_list_limit=256);--> statement-breakpoint
CREATE INDEX "operator_sessions_login" ON "operator_sessions" USING btree ("login");--> statement-breakpoint
CREATE INDEX "sign_in_links_login" ON "sign_in_links" USING btree ("login");--> statement-breakpoint
CREATE UNIQUE INDEX "content_providers_one_current" ON "content_providers" USING btree ("application_id") WHERE "content_providers"."replaced_at" is null;--> statement-breakpoint
CREATE INDEX "kyc_access_log_application" ON "kyc_access_log" USING btree ("application_id");--> statement-breakpoint
CREATE INDEX "kyc_former_records_application" ON "kyc_former_records" USING btree ("application_id");--> statement-breakpoint
CREATE INDEX "kyc_former_records_replaced_at" ON "kyc_former_records" USING btree ("replaced_at");--> statement-breakpoint
CREATE INDEX "kyc_records_tax_id" ON "kyc_records" USING btree ("tax_id_fingerprint");--> statement-breakpoint
CREATE INDEX "kyc_states_requested" ON "kyc_states" USING btree ("requested_at") WHERE "kyc_states"."requested_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "kyc_verdicts_one_open" ON "kyc_verdicts" USING btree ("application_id") WHERE "kyc_verdicts"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "kyc_verdicts_application" ON "kyc_verdicts" USING btree ("application_id","verdict_id");--> statement-breakpoint
CREATE INDEX "kyc_verdicts_expires" ON "kyc_verdicts" USING btree ("expires_at") WHERE "kyc_verdicts"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "game_icon_hashes_dhash" ON "game_icon_hashes" USING btree ("dhash");--> statement-breakpoint
CREATE INDEX "picture_contents_looked" ON "picture_contents" USING btree ("looked_at") WHERE "picture_contents"."whole" or (not "picture_contents"."pinned" and "picture_contents"."stored" is null);--> statement-breakpoint
CREATE INDEX "picture_pins_picture" ON "picture_pins" USING btree ("picture_id");--> statement-breakpoint
CREATE INDEX "picture_pins_sha256" ON "picture_pins" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "pictures_due" ON "pictures" USING btree ("next_check_at") WHERE "pictures"."next_check_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "application_checks_open" ON "application_checks" USING btree ("application_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "application_checks_latest" ON "application_checks" USING btree ("application_id","requested_at");--> statement-breakpoint
CREATE INDEX "portal_sessions_token" ON "portal_sessions" USING btree ("token_id");--> statement-breakpoint
CREATE INDEX "refresh_requests_by_operator" ON "refresh_requests" USING btree ("application_id") WHERE "refresh_requests"."by_operator";--> statement-breakpoint
CREATE INDEX "changed_games_carry" ON "changed_games" USING btree ("carry_at") WHERE "changed_games"."carry_at" is not null;--> statement-breakpoint
CREATE INDEX "changed_games_lane" ON "changed_games" USING btree ("since","game_id","application_id");--> statement-breakpoint
CREATE INDEX "changed_games_application" ON "changed_games" USING btree ("application_id","since","game_id");--> statement-breakpoint
CREATE INDEX "game_leases_until" ON "game_leases" USING btree ("leased_until");--> statement-breakpoint
CREATE INDEX "game_viewers_seen" ON "game_viewers" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "held_games_application" ON "held_games" USING btree ("application_id");--> statement-breakpoint
CREATE INDEX "run_days_by_day" ON "run_days" USING brin ("day");--> statement-breakpoint
CREATE INDEX "sync_run_pages_open" ON "sync_run_pages" USING btree ("run_id","page_num") WHERE "sync_run_pages"."open_games" <> '{}'::jsonb;--> statement-breakpoint
CREATE UNIQUE INDEX "sync_runs_one_open" ON "sync_runs" USING btree ("application_id") WHERE "sync_runs"."finished_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "sync_runs_by_number" ON "sync_runs" USING btree ("run_number");--> statement-breakpoint
CREATE INDEX "sync_runs_by_application" ON "sync_runs" USING btree ("application_id","run_number");--> statement-breakpoint
CREATE INDEX "sync_runs_by_finish" ON "sync_runs" USING btree ("finished_at") WHERE "sync_runs"."finished_at" is not null;--> statement-breakpoint
CREATE INDEX "sync_runs_stored" ON "sync_runs" USING btree ("application_id","started_at") WHERE "sync_runs"."stored_bytes" > 0;--> statement-breakpoint
CREATE INDEX "sync_runs_by_outcome" ON "sync_runs" USING btree ("outcome","run_number") WHERE "sync_runs"."outcome" <> 'succeeded';--> statement-breakpoint
CREATE INDEX "stream_events_without_position" ON "stream_events" USING btree ("event_number") WHERE "stream_events"."position" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "game_appeals_open" ON "game_appeals" USING btree ("game_id") WHERE "game_appeals"."outcome" is null;--> statement-breakpoint
CREATE INDEX "game_appeals_lane" ON "game_appeals" USING btree ("opened_at","appeal_id") WHERE "game_appeals"."outcome" is null;--> statement-breakpoint
CREATE INDEX "game_appeals_game" ON "game_appeals" USING btree ("game_id");--> statement-breakpoint
CREATE INDEX "game_appeals_application" ON "game_appeals" USING btree ("application_id","opened_at");--> statement-breakpoint
CREATE INDEX "game_messages_game" ON "game_messages" USING btree ("game_id","message_id");--> statement-breakpoint
CREATE INDEX "game_messages_answers" ON "game_messages" USING btree ("application_id","written_at") WHERE "game_messages"."kind" = 'answer';--> statement-breakpoint
CREATE INDEX "game_messages_to_developers" ON "game_messages" USING btree ("application_id","message_id") WHERE "game_messages"."kind" = 'message';--> statement-breakpoint
CREATE INDEX "workers_seen" ON "workers" USING btree ("seen_at");