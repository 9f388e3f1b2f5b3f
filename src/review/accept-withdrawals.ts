import { allowLongStatements, type Database } from '#db/client.ts';
import { findVersion } from '#db/queries/approvals.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import { lockSuspectRun, withdrawVanishingGames } from '#db/queries/vanishing-games.ts';
import { transact } from '#db/transact.ts';
import { LOGGED_IDS_MAX } from '#src/contract/audit.ts';
import { CatalogueError, UsageError } from '#src/errors.ts';
import { auditRefusal, voidOpenRequests } from '#src/operations/approvals.ts';
import {
  requireSecondPerson,
  SECOND_PERSON_BY_DEFAULT,
  type SecondPerson,
} from '#src/operations/second-person.ts';

/**
 * Withdraw games that a suspect run did not name (`listVanishingGames`): some, or all. Games that a later call has
 * fetched stay. `sync --accept-withdrawals` reads the list again instead.
 * @param game_ids absent: all; with an approval: what was approved
 * @returns the withdrawn games
 * @throws UsageError when there is no such suspect run
 * @throws CatalogueError when a later run has begun: its list is newer
 * @throws ApprovalError without the second person
 */
export const acceptWithdrawals = (
  sql: Database,
  run_id: string,
  game_ids: readonly string[] | undefined,
  actor: Actor,
  second: SecondPerson = SECOND_PERSON_BY_DEFAULT,
): Promise<string[]> => {
  const subject = `run:${run_id}`;
  const { approval_id } = second;
  return auditRefusal(sql, { ...actor, subject, approval_id }, () =>
    transact(sql, async (tx) => {
      // Of an application with a million games, one statement withdraws them all.
      await allowLongStatements(tx);
      const run = await lockSuspectRun(tx, run_id);
      if (run?.outcome !== 'suspect') {
        const what =
          run === undefined
            ? `There is no run ${run_id}.`
            : `The run ${run_id} is ${run.outcome ?? 'open'}, not suspect: it has nothing to accept.`;
        throw new UsageError(`${what} List suspect runs: npx catalogue run list --outcome suspect`);
      }
      if (!run.is_latest)
        throw new CatalogueError(
          `A later run of ${run.application_id} has begun: look at its result (npx catalogue run list ${run.application_id}).`,
        );
      const version = (await findVersion(tx, 'withdrawals', subject)) ?? '';
      const use = { kind: 'withdrawals', subject, version, actor } as const;
      const { approval, entries, details } = await requireSecondPerson(tx, second, use);
      const accepted = approval === undefined ? game_ids : approval.asked.game_ids;
      const withdrawn = await withdrawVanishingGames(tx, run_id, accepted);
      const entry = {
        ...actor,
        action: 'run.accept_withdrawals',
        subject,
        details: {
          application_id: run.application_id,
          games: withdrawn.length,
          game_ids: withdrawn.slice(0, LOGGED_IDS_MAX),
          ...details,
        },
      } as const;
      await recordAudit(tx, withdrawn.length > 0 ? [...entries, entry] : entries);
      if (withdrawn.length > 0) await voidOpenRequests(tx, 'withdrawals', subject);
      return withdrawn;
    }),
  );
};
