DROP INDEX CONCURRENTLY IF EXISTS "sync_runs_by_outcome";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "sync_runs_by_outcome" ON "sync_runs" USING btree ("outcome","run_id") WHERE "sync_runs"."outcome" <> 'succeeded';
