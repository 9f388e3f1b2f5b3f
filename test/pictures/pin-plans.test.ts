import { expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { pinPictures } from '#db/queries/picture-pins.ts';
import { readColumn } from '#db/rows.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('a decision binds its game to its pictures without reading the other pictures', async () => {
  const { sql } = database;
  await sql`
    insert into picture_contents (sha256, outcome, bytes)
    select sha256(number::text::bytea), 'shown', 50000 from generate_series(1, 10000) as number`;
  await sql`
    insert into pictures (picture_id, url, sha256, outcome, fetched_at)
    select md5(number::text)::uuid, 'https://cdn.example/' || number, sha256(number::text::bytea), 'shown', now()
    from generate_series(1, 10000) as number`;
  await sql`analyze pictures, picture_contents`;
  await addApplication(sql, 'acme');
  await upsertGames(sql, 'acme', [fetchedGame({ game_store_pic: ['https://cdn.example/a.png'] })]);
  const audit_ids = await readColumn(sql<{ audit_id: number }[]>`
    insert into game_audits (game_id, revision, audit_status, decided_by)
    select game_id, revision, 'passed', 'kim' from games returning audit_id`);
  await sql.begin(async (tx) => {
    const scanned = () => tx`
      select relname, seq_tup_read::int as rows from pg_stat_xact_user_tables
      where relname in ('pictures', 'picture_contents') order by relname`;
    const before = await scanned();
    expect(before).toHaveLength(2);
    await pinPictures(tx, audit_ids);
    expect(await scanned()).toEqual(before);
    const [pinned] = await tx`select count(*)::int as pins from picture_pins`;
    expect(pinned).toEqual({ pins: 2 });
  });
});
