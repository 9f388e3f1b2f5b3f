ALTER TABLE "kyc_states" ADD COLUMN "requested_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "refresh_requests" ADD COLUMN "by_operator" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "refresh_requests" ADD COLUMN "attempts" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "refresh_turns" ADD COLUMN "idle_turns" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "kyc_states_requested" ON "kyc_states" USING btree ("requested_at") WHERE "kyc_states"."requested_at" is not null;--> statement-breakpoint
CREATE INDEX "refresh_requests_by_operator" ON "refresh_requests" USING btree ("application_id") WHERE "refresh_requests"."by_operator";