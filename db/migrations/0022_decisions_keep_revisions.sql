-- A role that may delete revisions deleted the decisions on them by the cascade of the old constraint.
-- Both statements lock two tables. They take the locks in the order of the workers' statements, or they would
-- deadlock with them again and again. A decision locks the tables in the other order: a statement gives up before
-- Postgres looks for a deadlock (after a second), and is tried again.
DO $$ BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  LOCK TABLE "game_revisions", "game_audits" IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE "game_audits" ADD CONSTRAINT "game_audits_keep_revision" FOREIGN KEY ("game_id","revision") REFERENCES "public"."game_revisions"("game_id","revision") ON DELETE no action ON UPDATE no action NOT VALID;
END $$;--> statement-breakpoint
ALTER TABLE "game_audits" VALIDATE CONSTRAINT "game_audits_keep_revision";--> statement-breakpoint
DO $$ BEGIN
  PERFORM set_config('lock_timeout', '500ms', true);
  LOCK TABLE "game_revisions", "game_audits" IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE "game_audits" DROP CONSTRAINT "game_audits_revision";
END $$;
