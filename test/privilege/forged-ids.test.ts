// Ids that order rows are those of sequences: a stolen login would store the latest row for ever, or take the next ids.
import { beforeAll, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import type { DatabaseRole } from '#db/roles.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';

const { database, expectRefused } = useStolenLogins();
const game = fetchedGame();
const LAST = 9_007_199_254_740_991n;

beforeAll(async () => {
  await addApplication(database.sql, 'acme');
  await upsertGames(database.sql, 'acme', [game]);
});

const RUN = `
  insert into sync_runs (run_id, application_id, trigger, outcome, finished_at, run_number) overriding system value
  values (gen_random_uuid(), 'acme', 'manual', 'succeeded', now(), ${LAST})`;
const DECISION = `
  insert into game_audits (audit_id, game_id, revision, audit_status, decided_by)
  values (${LAST}, '${game.game_id}', 1, 'passed', 'kim')`;
const FORGED: [DatabaseRole, what: string, statement: string][] = [
  ['worker', 'run', RUN],
  ['console', 'run', RUN],
  ['operator_api', 'run', RUN],
  ['console', 'decision', DECISION],
  ['operator_api', 'decision', DECISION],
  [
    'kyc_desk',
    'verdict',
    `insert into kyc_verdicts (verdict_id, application_id, record_id, verdict, reason, decided_by, expires_at)
     values (${LAST}, 'acme', gen_random_uuid(), 'verified', 'x', 'kim', now())`,
  ],
  [
    'kyc_desk',
    'reveal',
    `insert into kyc_access_log (entry_id, application_id, action, accessed_by, reason)
     values (${LAST}, 'acme', 'reveal', 'kim', 'x')`,
  ],
];

it.each(FORGED)('a stolen %s gives no %s an id of its own', async (role, _, statement) => {
  await expectRefused(role, [statement]);
});

it('a stolen console binds no decision that is not made yet to bytes: the API would serve them', async () => {
  await decideGame(database.sql, { game_id: game.game_id, audit_status: 'passed' });
  const pin = database.as('console')`
    insert into picture_pins (audit_id, is_icon, place, picture_id, sha256)
    select max(audit_id) + 1, true, 0, gen_random_uuid(), sha256('evil') from game_audits`;
  await expect(pin).rejects.toMatchObject({ code: '23503' });
});
