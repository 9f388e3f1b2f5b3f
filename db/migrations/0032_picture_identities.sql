CREATE TABLE "picture_rules" (
	"application_id" text PRIMARY KEY NOT NULL,
	"tag" text NOT NULL,
	"volatile_parameters" text[] NOT NULL,
	"after" bigint
);
--> statement-breakpoint
-- The place of a pin cannot be found in what is stored. No release has pins.
DELETE FROM "picture_pins";--> statement-breakpoint
ALTER TABLE "picture_pins" ADD COLUMN IF NOT EXISTS "is_icon" boolean NOT NULL;--> statement-breakpoint
ALTER TABLE "picture_pins" ADD COLUMN IF NOT EXISTS "place" smallint NOT NULL;--> statement-breakpoint
ALTER TABLE "picture_pins" DROP CONSTRAINT IF EXISTS "picture_pins_audit_id_picture_id_pk";--> statement-breakpoint
ALTER TABLE "picture_pins" ADD CONSTRAINT "picture_pins_audit_id_is_icon_place_pk" PRIMARY KEY("audit_id","is_icon","place");
