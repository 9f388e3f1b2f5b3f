import { beforeEach } from 'vitest';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { findGame, upsertGames } from '#db/queries/games.ts';
import { findKycRecord } from '#db/queries/kyc.ts';
import { findLastVerdict } from '#db/queries/verdicts.ts';
import type { Verdict } from '#src/contract/words.ts';
import { giveVerdict } from '#src/operations/verdicts.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { decideGames, KIM, operateAs } from '#test/support/operate.ts';

const KEYS = ringOf(['k1']);
const ALONE = { fourEyes: { kinds: [], onceTwo: false } } as const;
export const acme = { application_id: 'acme' };

/** One application with a KYC record and a pending game, anew for each test. */
export const useGameOfDeveloper = () => {
  const { database, expectRefused } = useStolenLogins();
  let game_id: string;

  const pull = (changes: object = {}) => store(database.sql, KEYS, 'acme', { ...PLANTED, ...changes });
  const recordId = async () => (await findKycRecord(database.sql, 'acme'))?.record_id ?? '';
  const verdictOn = async (record_id: string, verdict: Verdict = 'verified', more: object = {}) =>
    operateAs(
      database.sql,
      KIM.actor,
      giveVerdict,
      { ...acme, record_id, verdict, reason: 'ticket', ...more },
      ALONE,
    );
  const standing = async () => (await findLastVerdict(database.sql, 'acme'))?.state;
  const pass = async () => {
    const { games } = await decideGames(
      database.sql,
      [{ game_id, revision: 1 }],
      { audit_status: 'passed' },
      KIM.actor,
    );
    return games[0]?.result;
  };
  const statusOf = async () => (await findGame(database.sql, game_id))?.audit_status;
  const events = () =>
    database.sql<
      { type: string; why: string }[]
    >`select type, data ->> 'why' as why from events order by event_number`;

  beforeEach(async () => {
    const { sql } = database;
    await sql`truncate applications, games, game_revisions, game_audits, events, operators, approvals, held_games cascade`;
    await setDecisionRules(sql, { games_need_verdict: false });
    await addApplication(sql, 'acme');
    await pull();
    const game = fetchedGame();
    game_id = game.game_id;
    await upsertGames(sql, 'acme', [game]);
  });
  return {
    database,
    expectRefused,
    pull,
    recordId,
    verdictOn,
    standing,
    pass,
    statusOf,
    events,
    gameId: () => game_id,
  };
};
