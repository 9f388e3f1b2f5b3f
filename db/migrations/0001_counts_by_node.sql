-- Counted anew, in the new form, when db/triggers/game-counts.sql is applied after the migrations: it counts what is
-- there as it creates the triggers.
DROP TRIGGER IF EXISTS "games_count_insert" ON "games";--> statement-breakpoint
DROP TRIGGER IF EXISTS "games_count_update" ON "games";--> statement-breakpoint
DROP TRIGGER IF EXISTS "games_count_delete" ON "games";--> statement-breakpoint
DROP FUNCTION IF EXISTS list_games, locate_games, counters_of;--> statement-breakpoint
TRUNCATE "game_counts", "game_count_changes";--> statement-breakpoint
ALTER TABLE "game_counts" DROP CONSTRAINT "game_counts_level";--> statement-breakpoint
ALTER TABLE "game_counts" ADD COLUMN "upto" integer[] NOT NULL;--> statement-breakpoint
ALTER TABLE "game_counts" ADD CONSTRAINT "game_counts_level" CHECK ("game_counts"."level" between 0 and 4);