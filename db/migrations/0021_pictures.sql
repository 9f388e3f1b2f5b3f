CREATE TABLE "game_icon_hashes" (
	"game_id" uuid PRIMARY KEY NOT NULL,
	"dhash" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "picture_changes" (
	"game_id" uuid NOT NULL,
	"found_at" timestamp with time zone DEFAULT now() NOT NULL,
	"picture_id" uuid NOT NULL,
	"audit_id" bigint NOT NULL,
	"why" text DEFAULT 'picture changed' NOT NULL,
	"before" "bytea" NOT NULL,
	"after" "bytea" NOT NULL,
	CONSTRAINT "picture_changes_game_id_found_at_picture_id_pk" PRIMARY KEY("game_id","found_at","picture_id")
);
--> statement-breakpoint
CREATE TABLE "picture_contents" (
	"sha256" "bytea" PRIMARY KEY NOT NULL,
	"outcome" text NOT NULL,
	"bytes" integer NOT NULL,
	"format" text,
	"width" integer,
	"height" integer,
	"frames" integer,
	"dhash" bigint,
	"whole" boolean DEFAULT true NOT NULL,
	"pinned" boolean DEFAULT false NOT NULL,
	"looked_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "picture_pins" (
	"audit_id" bigint NOT NULL,
	"picture_id" uuid NOT NULL,
	"sha256" "bytea",
	CONSTRAINT "picture_pins_audit_id_picture_id_pk" PRIMARY KEY("audit_id","picture_id")
);
--> statement-breakpoint
CREATE TABLE "picture_thumbnails" (
	"sha256" "bytea" NOT NULL,
	"width" smallint NOT NULL,
	"webp" "bytea" NOT NULL,
	CONSTRAINT "picture_thumbnails_sha256_width_pk" PRIMARY KEY("sha256","width")
);
--> statement-breakpoint
CREATE TABLE "pictures" (
	"picture_id" uuid PRIMARY KEY NOT NULL,
	"url" text NOT NULL,
	"sha256" "bytea",
	"outcome" text,
	"http_status" smallint,
	"note" text,
	"etag" text,
	"fetched_at" timestamp with time zone,
	"fresh_until" timestamp with time zone,
	"next_check_at" timestamp with time zone
);
--> statement-breakpoint
CREATE INDEX "game_icon_hashes_dhash" ON "game_icon_hashes" USING btree ("dhash");--> statement-breakpoint
CREATE INDEX "picture_contents_looked" ON "picture_contents" USING btree ("looked_at") WHERE "picture_contents"."whole";--> statement-breakpoint
CREATE INDEX "picture_pins_picture" ON "picture_pins" USING btree ("picture_id");--> statement-breakpoint
CREATE INDEX "pictures_due" ON "pictures" USING btree ("next_check_at") WHERE "pictures"."next_check_at" is not null;--> statement-breakpoint
-- WebP does not compress further.
ALTER TABLE "picture_thumbnails" ALTER COLUMN "webp" SET STORAGE EXTERNAL;
