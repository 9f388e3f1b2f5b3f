DROP INDEX CONCURRENTLY IF EXISTS "games_withdrawn";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "games_withdrawn" ON "games" USING btree ("application_id","withdrawn_at","game_id") WHERE "games"."withdrawn_at" is not null;
