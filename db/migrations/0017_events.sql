CREATE SEQUENCE "public"."event_positions" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
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
	CONSTRAINT "event_deliveries_state" CHECK (state in ('pending', 'delivered', 'failed'))
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
	CONSTRAINT "event_webhooks_status" CHECK (status in ('active', 'off'))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"event_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"type" text NOT NULL,
	"game_id" uuid NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"position" bigint,
	CONSTRAINT "events_type" CHECK ("events"."type" in ('game.passed', 'game.rejected', 'game.pending', 'game.withdrawn'))
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
	"error" text
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
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "refresh_requests_application_id_application_game_id_pk" PRIMARY KEY("application_id","application_game_id")
);
--> statement-breakpoint
CREATE TABLE "refresh_turns" (
	"application_id" text PRIMARY KEY NOT NULL,
	"next_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_event_id_events_event_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."events"("event_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_webhooks" ADD CONSTRAINT "event_webhooks_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "application_checks" ADD CONSTRAINT "application_checks_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "portal_sessions" ADD CONSTRAINT "portal_sessions_token_id_api_tokens_token_id_fk" FOREIGN KEY ("token_id") REFERENCES "public"."api_tokens"("token_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "event_deliveries_due" ON "event_deliveries" USING btree ("application_id","next_attempt_at") WHERE state = 'pending';--> statement-breakpoint
CREATE INDEX "event_deliveries_failed" ON "event_deliveries" USING btree ("application_id") WHERE state = 'failed';--> statement-breakpoint
CREATE UNIQUE INDEX "events_position" ON "events" USING btree ("application_id","position");--> statement-breakpoint
CREATE INDEX "events_without_position" ON "events" USING btree ("created_at") WHERE "events"."position" is null;--> statement-breakpoint
CREATE INDEX "events_game" ON "events" USING btree ("game_id");--> statement-breakpoint
CREATE INDEX "events_created" ON "events" USING brin ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "application_checks_open" ON "application_checks" USING btree ("application_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "application_checks_latest" ON "application_checks" USING btree ("application_id","requested_at");--> statement-breakpoint
CREATE INDEX "portal_sessions_token" ON "portal_sessions" USING btree ("token_id");