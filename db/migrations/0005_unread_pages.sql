ALTER TABLE "sync_run_pages" ADD COLUMN "kind" text DEFAULT 'listed' NOT NULL;--> statement-breakpoint
ALTER TABLE "sync_run_pages" ADD COLUMN "reason" text;