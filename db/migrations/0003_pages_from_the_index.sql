-- After an interruption CREATE runs again together with the DROP before it, which removes the incomplete index.
DROP INDEX CONCURRENTLY IF EXISTS "games_pages";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "games_pages" ON "games" USING btree ("audit_status","game_id","game_name","audit_time") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "games_pages_application";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "games_pages_application" ON "games" USING btree ("application_id","audit_status","game_id","game_name","audit_time") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "games_catalogue";--> statement-breakpoint
DROP INDEX CONCURRENTLY IF EXISTS "games_catalogue_application";
