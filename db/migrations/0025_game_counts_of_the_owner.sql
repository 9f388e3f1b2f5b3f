-- The counters are maintained with the rights of their owner. A role that changes a game's status need not be able to
-- write them: a fold writes game_counts after one of 256 changes on average, so a decision of the console or of an
-- operator failed that often for lack of rights.
alter function count_games() security definer set search_path = public, pg_temp;
--> statement-breakpoint
alter function recount_game() security definer set search_path = public, pg_temp;
--> statement-breakpoint
alter function fold_game_counts() security definer set search_path = public, pg_temp;
--> statement-breakpoint
alter function recount_games(boolean) security definer set search_path = public, pg_temp;
