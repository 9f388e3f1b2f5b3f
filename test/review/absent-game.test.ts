// Why a game is not stored, as its timeline answers.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { insertWaitingGames } from '#db/queries/imports.ts';
import { noteOpenRun } from '#db/queries/run-steps.ts';
import { closeRun } from '#db/queries/runs.ts';
import { roundDuration, spellDuration } from '#src/lib/duration.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { tickOffset } from '#src/rules/ticks.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));
const read = (id: string, application_id: string) => readTimeline(database.sql, application_id, id);

const fail = (id: string, application_id: string) =>
  recordFailures(database.sql, application_id, 'query_game_detail', [
    { application_game_id: id, kind: 'invalid_data', reasons: [{ path: 'game_icon.3', code: 'too_long' }] },
  ]);

const endRun = async (
  application_id: string,
  outcome: 'succeeded' | 'failed',
  reason: string | null = null,
) => {
  const run = await anOpenRun(database.sql, application_id);
  if (outcome === 'succeeded')
    await database.sql`update sync_runs set listing_end = 'complete' where run_id = ${run.run_id}`;
  await closeRun(database.sql, run, { outcome, reason });
};
it('A game that was never stored: its invalid fields, the list that does not name it, or no list at all', async () => {
  await addApplication(database.sql, 'fresh');
  expect((await read('g-1', 'fresh')).answer).toMatchObject({
    code: 'not_pulled',
    text: expect.stringMatching(
      /^The platform has not stored this game\. No run of fresh has read the whole list yet\. The next run is due in \d/,
    ),
  });
  await endRun('fresh', 'failed', 'page 1: connect');
  expect((await read('g-1', 'fresh')).answer.text).toMatch(
    / No run of fresh has read the whole list yet\. The last run failed: page 1: connect\. The next run is due in \d/,
  );
  await endRun('fresh', 'succeeded');
  expect((await read('g-1', 'fresh')).answer).toMatchObject({
    code: 'not_listed',
    at: expect.any(Date),
    text: expect.stringMatching(
      /did not name this game_id in the last run that read the whole list, which ended \d+ seconds? ago\. The next run/,
    ),
  });
  await fail('g-1', 'fresh');
  await fail('g-1', 'fresh');
  const timeline = await read('g-1', 'fresh');
  expect(timeline.answer).toMatchObject({
    code: 'failed',
    text: [
      'The game is not stored: query_game_detail failed 2 times.',
      'The answer does not match the interface document (game_icon.3 is too long).',
      'Correct game_icon.3, then have the game read.',
    ].join(' '),
  });
  expect(timeline.entries.map(({ kind }) => kind)).toEqual(['failed']);
  await expect(read('g-1', 'nobody')).rejects.toThrow('There is no application "nobody"');
});

it('A game that was never stored, but imported: its decision waits for the first pull, which is said until then', async () => {
  await addApplication(database.sql, 'moved');
  const line = { game_package_url: '', reason: null, text: null };
  const passed = { audit_status: 'passed', audit_time: at(5), decided_by: 'zoë' } as const;
  const pending = { audit_status: 'pending', audit_time: null, decided_by: null } as const;
  await insertWaitingGames(database.sql, 'moved', [
    { ...line, ...passed, application_game_id: 'decided', game_id: randomUUID() },
    { ...line, ...pending, application_game_id: 'open', game_id: randomUUID() },
  ]);
  const next =
    'The platform has not stored this game. No run of moved has read the whole list yet. The next run is due in ';
  const whyOf = async (id: string) => (await read(id, 'moved')).answer.text;
  expect(await whyOf('decided')).toContain(
    `Its imported decision (passed, 2026-03-01 12:05:00 UTC) waits for the first pull of the game, which applies it. ${next}`,
  );
  expect(await whyOf('open')).toContain(
    `The game was imported without content: its first pull brings it to review. ${next}`,
  );
  await fail('decided', 'moved');
  expect(await whyOf('decided')).toMatch(/ which applies it\. The game is not stored: /);
  await upsertGames(database.sql, 'moved', [fetchedGame({ game_id: 'decided' }, at(6))]);
  expect(await whyOf('decided')).toMatch(/^The game is live\./);
});

it('The list as of a run whose pages do not name what it counts, and of one that waits: their notes are said', async () => {
  await addApplication(database.sql, 'odd');
  const note = 'data.total said 250, the pages named 240; 10 rows name a game again';
  await endRun('odd', 'succeeded');
  await database.sql`update sync_runs set ${database.sql({ note })} where application_id = 'odd'`;
  const answer = async () => (await read('g-1', 'odd')).answer.text;
  expect(await answer()).toContain(` ago. The last run noted: ${note}. The next run is due in `);
  await database.sql`update sync_runs set outcome = 'partial' where application_id = 'odd'`;
  expect(await answer(), 'the run read the list, whatever became of its games').not.toContain('partial');
  const run = await anOpenRun(database.sql, 'odd');
  expect(await answer()).toMatch(/ A run is open now\.$/);
  const delay = 'page 1: http_status HTTP 429; by Retry-After, the application is called again at noon';
  await noteOpenRun(database.sql, run, delay);
  expect(await answer()).toMatch(new RegExp(` A run is open now: ${delay}\\.$`));
});

it('The list as of the last complete run: when the next one follows is said, or why none does', async () => {
  await addApplication(database.sql, 'rare');
  const set = (changes: object) =>
    database.sql`update applications set ${database.sql(changes)} where application_id = 'rare'`;
  await endRun('rare', 'succeeded');
  await database.sql`
    update sync_runs set finished_at = now() - interval '5 minutes 30 s' where application_id = 'rare'`;
  const answer = async () => (await read('g-1', 'rare')).answer.text;
  const everyMs = 30 * 86_400_000;
  await set({ every_ms: everyMs });
  const named =
    'query_game_list of rare did not name this game_id in the last run that read the whole list, which ended 5 minutes ago.';
  const inWords = (ms: number) => spellDuration(roundDuration(ms));
  // The tick that BullMQ makes of the offset.
  const nextMs = tickOffset('games.rare', everyMs) + Math.floor(Date.now() / everyMs) * everyMs;
  const waitMs = nextMs - Date.now() + (nextMs > Date.now() ? 0 : everyMs);
  expect(await answer()).toBe(`${named} The next run is due in ${inWords(waitMs)} (every 30 days).`);
  await set({ next_attempt_at: new Date(Date.now() + waitMs + everyMs) });
  expect(await answer()).toBe(
    `${named} The next run is due in ${inWords(waitMs + everyMs)} (every 30 days).`,
  );
  await set({ next_attempt_at: null, status: 'paused' });
  expect(await answer()).toBe(`${named} The application is paused.`);
  await set({ status: 'active' });
  await anOpenRun(database.sql, 'rare');
  expect(await answer()).toBe(`${named} A run is open now.`);
});
