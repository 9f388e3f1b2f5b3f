ALTER TABLE "refresh_requests" ADD COLUMN "is_full" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "refresh_turns" ADD COLUMN "stored_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "refresh_turns" ADD COLUMN "day_started_at" timestamp with time zone DEFAULT now() NOT NULL;