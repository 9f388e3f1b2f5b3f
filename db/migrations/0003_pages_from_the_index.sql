-- The new ones first: writers wait for them, readers only for the two drops.
CREATE INDEX "games_pages" ON "games" USING btree ("audit_status","game_id","game_name","audit_time") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
CREATE INDEX "games_pages_application" ON "games" USING btree ("application_id","audit_status","game_id","game_name","audit_time") WHERE "games"."withdrawn_at" is null;--> statement-breakpoint
DROP INDEX "games_catalogue";--> statement-breakpoint
DROP INDEX "games_catalogue_application";