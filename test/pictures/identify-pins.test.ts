import { randomUUIDv7 } from 'node:crypto';
import { expect, test } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { insertWaitingGames } from '#db/queries/imports.ts';
import { identifyPins } from '#src/pictures/identify-pins.ts';
import { pictureId } from '#src/rules/pictures.ts';
import { countBlocked } from '#test/support/blocked.ts';
import { addApplication, DEFAULT_RULE, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
const { signal } = new AbortController();

const URL = 'https://cdn.example/1.png';
const wait = (application_id: string, id: string) =>
  insertWaitingGames(database.sql, application_id, [
    {
      application_game_id: id,
      game_id: randomUUIDv7(),
      game_package_url: '',
      audit_status: 'passed',
      audit_time: new Date(),
      decided_by: 'kim',
      reason: null,
      text: null,
    },
  ]);
const aGame = (game_id: string) => fetchedGame({ game_id, game_icon: [], game_store_pic: [URL] });

test.each([
  ['again', true],
  ['for the first time', false],
])(
  'a first pull that commits while the pins of its application are identified %s loses none of its pins',
  async (_, wasIdentified) => {
    const application_id = wasIdentified ? 'known' : 'fresh';
    const media = database.as('media');
    await addApplication(database.sql, application_id);
    if (wasIdentified) {
      await wait(application_id, 'earlier');
      await upsertGames(database.as('worker'), application_id, [aGame('earlier')]);
      await identifyPins(media, signal);
      await database.sql`
        update picture_rules set after = (select max(audit_id) from game_audits) where application_id = ${application_id}`;
    }
    await wait(application_id, 'waiting');
    const identifying = await database.as('worker').begin(async (tx) => {
      await upsertGames(tx, application_id, [aGame('waiting')]);
      let hasEnded = false;
      const ended = identifyPins(media, signal).finally(() => {
        hasEnded = true;
      });
      await until('the pins are identified, as far as the first pull lets them', async () => {
        return hasEnded || (await countBlocked(database.sql)) > 0;
      });
      return { ended };
    });
    await identifying.ended;
    await identifyPins(media, signal);
    const ids = await database.sql<{ picture_id: string }[]>`
      select p.picture_id from picture_pins p join game_audits using (audit_id) join games using (game_id)
      where application_id = ${application_id} and application_game_id = 'waiting'`;
    expect(ids).toEqual([{ picture_id: pictureId(application_id, URL, DEFAULT_RULE) }]);
  },
);
