DROP INDEX "sync_runs_by_application";--> statement-breakpoint
DROP INDEX "sync_runs_by_outcome";--> statement-breakpoint
ALTER TABLE "sync_runs" ADD COLUMN "run_number" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "sync_runs_run_number_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1);--> statement-breakpoint
CREATE UNIQUE INDEX "sync_runs_by_number" ON "sync_runs" USING btree ("run_number");--> statement-breakpoint
CREATE INDEX "sync_runs_by_application" ON "sync_runs" USING btree ("application_id","run_number");--> statement-breakpoint
CREATE INDEX "sync_runs_by_outcome" ON "sync_runs" USING btree ("outcome","run_number") WHERE "sync_runs"."outcome" <> 'succeeded';