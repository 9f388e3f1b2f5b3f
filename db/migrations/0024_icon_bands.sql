DROP INDEX IF EXISTS "game_icon_hashes_dhash";
--> statement-breakpoint
-- The four parts of 16 bits of a difference hash, each with its number.
create or replace function icon_bands(hash bigint) returns integer[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select array[(hash & 65535)::int, (hash >> 16 & 65535)::int + 65536, (hash >> 32 & 65535)::int + 131072,
               (hash >> 48 & 65535)::int + 196608]
$$;
--> statement-breakpoint
-- After an interruption CREATE runs again together with the DROP before it, which removes the incomplete index.
drop index concurrently if exists game_icon_hashes_bands;
--> statement-breakpoint
create index concurrently game_icon_hashes_bands on game_icon_hashes using gin (icon_bands(dhash));
