ALTER TABLE "ingest_failures" ADD COLUMN "final" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "ingest_failures" ADD COLUMN "list_hash" text DEFAULT '' NOT NULL;