CREATE TABLE "changed_games" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"application_id" text NOT NULL,
	"decided_revision" integer NOT NULL,
	"since" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "game_absences" (
	"game_id" uuid NOT NULL,
	"withdrawn_at" timestamp with time zone NOT NULL,
	"returned_at" timestamp with time zone,
	CONSTRAINT "game_absences_game_id_withdrawn_at_pk" PRIMARY KEY("game_id","withdrawn_at")
);
--> statement-breakpoint
CREATE TABLE "game_viewers" (
	"game_id" uuid NOT NULL,
	"viewer" text NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "game_viewers_game_id_viewer_pk" PRIMARY KEY("game_id","viewer")
);
--> statement-breakpoint
CREATE TABLE "reasons" (
	"code" text PRIMARY KEY NOT NULL,
	"label" text NOT NULL,
	"position" smallint NOT NULL,
	"retired_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "vanishing_games" (
	"run_id" uuid NOT NULL,
	"game_id" uuid NOT NULL,
	CONSTRAINT "vanishing_games_run_id_game_id_pk" PRIMARY KEY("run_id","game_id")
);
--> statement-breakpoint
ALTER TABLE "game_audits" ADD COLUMN "text" text;--> statement-breakpoint
ALTER TABLE "game_audits" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "game_audits" ADD COLUMN "batch_id" uuid;--> statement-breakpoint
ALTER TABLE "game_audits" ADD COLUMN "waiting_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "game_audits" ADD COLUMN "undone_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "game_audits" ADD COLUMN "undone_by" text;--> statement-breakpoint
CREATE INDEX "changed_games_lane" ON "changed_games" USING btree ("since","game_id");--> statement-breakpoint
CREATE INDEX "changed_games_application" ON "changed_games" USING btree ("application_id","since","game_id");--> statement-breakpoint
-- After an interruption CREATE runs again together with the DROP before it, which removes the incomplete index.
DROP INDEX CONCURRENTLY IF EXISTS "game_audits_batch";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "game_audits_batch" ON "game_audits" USING btree ("batch_id") WHERE "game_audits"."batch_id" is not null;