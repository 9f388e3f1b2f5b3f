DROP INDEX "picture_contents_looked";--> statement-breakpoint
ALTER TABLE "picture_contents" ADD COLUMN "stored" text;--> statement-breakpoint
CREATE INDEX "picture_pins_sha256" ON "picture_pins" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "picture_contents_looked" ON "picture_contents" USING btree ("looked_at") WHERE "picture_contents"."whole" or (not "picture_contents"."pinned" and "picture_contents"."stored" is null);