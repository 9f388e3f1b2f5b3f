ALTER TABLE "applications" ADD COLUMN "volatile_parameters" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "games" ADD COLUMN "addresses_end_at" timestamp with time zone;