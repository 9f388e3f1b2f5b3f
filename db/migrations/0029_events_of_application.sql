DROP INDEX CONCURRENTLY IF EXISTS "events_application";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "events_application" ON "events" USING btree ("application_id","event_id");
