CREATE UNLOGGED TABLE "detail_turns" (
	"application_id" text PRIMARY KEY NOT NULL,
	"ends_at" timestamp with time zone NOT NULL
);
