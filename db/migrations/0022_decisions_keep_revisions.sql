-- A role that may delete revisions deleted the decisions on them by the cascade of the old constraint.
-- Both statements lock two tables, which writers lock in either order. They give up before a writer waits for the
-- second that Postgres takes to find a deadlock, and are tried again.
DO $$ BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  ALTER TABLE "game_audits" ADD CONSTRAINT "game_audits_keep_revision" FOREIGN KEY ("game_id","revision") REFERENCES "public"."game_revisions"("game_id","revision") ON DELETE no action ON UPDATE no action NOT VALID;
END $$;--> statement-breakpoint
ALTER TABLE "game_audits" VALIDATE CONSTRAINT "game_audits_keep_revision";--> statement-breakpoint
DO $$ BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  ALTER TABLE "game_audits" DROP CONSTRAINT "game_audits_revision";
END $$;
