ALTER TABLE "games" ADD COLUMN "unlisted_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "sync_run_pages" ADD COLUMN "withdrawn" integer DEFAULT 0 NOT NULL;