CREATE TABLE "run_days" (
	"application_id" text NOT NULL,
	"day" date NOT NULL,
	"outcome" text NOT NULL,
	"runs" integer NOT NULL,
	"listed" bigint NOT NULL,
	"inserted" bigint NOT NULL,
	"updated" bigint NOT NULL,
	"unchanged" bigint NOT NULL,
	"invalid" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"missing" bigint NOT NULL,
	"withdrawn" bigint NOT NULL,
	CONSTRAINT "run_days_application_id_day_outcome_pk" PRIMARY KEY("application_id","day","outcome")
);
--> statement-breakpoint
ALTER TABLE "run_days" ADD CONSTRAINT "run_days_application_id_applications_application_id_fk" FOREIGN KEY ("application_id") REFERENCES "public"."applications"("application_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "run_days_by_day" ON "run_days" USING brin ("day");