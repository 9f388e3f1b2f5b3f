import type { Database } from '#db/client.ts';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { addApplication, addToken, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';

/** An application with a game in every state, a failure, a run, events and a check; each of its texts has `word`. */
export const fillApplication = async (sql: Database, application_id: string, word: string) => {
  await addApplication(sql, application_id, { name: `${word} Games` });
  const webhook = { application_id, url: `https://${word}.example/events`, secret: Buffer.alloc(0) };
  await upsertEventWebhook(sql, { ...webhook, secret_keys: [] });
  const games = ['passed', 'rejected', 'pending', 'withdrawn', 'unlisted'].map((name) =>
    fetchedGame({ game_id: `${word}-${name}`, game_name: `${word} ${name}`, game_info: word }),
  );
  await upsertGames(sql, application_id, games);
  const [passed, rejected] = games;
  await decideGame(sql, { game_id: passed?.game_id ?? '', audit_status: 'passed', note: 'private note' });
  const text = `${word}: the text ends too soon.`;
  await decideGame(sql, {
    game_id: rejected?.game_id ?? '',
    audit_status: 'rejected',
    reason: 'incomplete',
    text,
    note: 'private note',
  });
  await sql`
    update games set withdrawn_at = now() - interval '3 hours',
                     unlisted_at = case when application_game_id = ${`${word}-unlisted`} then now() - interval '1 day' end
    where application_game_id = any (${[`${word}-withdrawn`, `${word}-unlisted`]}::text[])`;
  await recordFailures(sql, application_id, 'query_game_detail', [
    {
      application_game_id: `${word}-broken`,
      kind: 'invalid_data',
      reasons: [{ path: 'game_icon.0', code: 'not_http_url' }],
    },
  ]);
  const run = await anOpenRun(sql, application_id);
  await closeRun(sql, run, { outcome: 'abandoned', reason: 'cancelled by an operator' });
  const { token, token_id } = await addToken(sql, application_id);
  const events = await sql<{ event_id: string }[]>`
    select event_id from events where application_id = ${application_id}`;
  const ids = [
    application_id,
    run.run_id,
    token_id,
    ...games.flatMap((game) => [game.game_id, game.application_game_id]),
    `${word}-broken`,
    ...events.map(({ event_id }) => event_id),
  ];
  return { token, token_id, ids };
};
