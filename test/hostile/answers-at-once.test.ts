// Two persons answer one thing at the same moment: one answer counts, and the audit log has that one alone.
import { beforeAll, expect, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { operate } from '#src/operations/operate.ts';
import { approve, cancelRequest, declineRequest } from '#src/operations/requests.ts';
import { undoGameDecisions } from '#src/operations/undo-decisions.ts';
import { addOperators, askBy } from '#test/support/approvals.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { operatorCaller, testPlatform } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const by = (login: string) => operatorCaller(login, 'kyc_officer', 'reviewer');
const ROUNDS = 10;

beforeAll(async () => {
  await addApplication(database.sql, 'acme');
  await addOperators(
    database.sql,
    Object.fromEntries(['kim', 'lee', 'max'].map((login) => [login, ['kyc_officer', 'reviewer']])),
  );
});

/** What the audit log says of a subject, the first entry last. */
const actionsOn = async (subject: string) =>
  (await listAudit(database.sql, { subject, limit: 100 })).map(({ actor, action }) => `${actor} ${action}`);

test('of two who approve a request, and one who cancels or declines it, one does', async () => {
  const platform = testPlatform(database.sql);
  for (let round = 0; round < ROUNDS; round += 1) {
    const subject = 'application:acme';
    const before = await actionsOn(subject);
    const { approval_id } = await askBy(database.sql, 'kim', {
      kind: 'erase',
      subject,
      reason: 'ticket 4711',
    });
    const request = { approval_id, kind: 'erase' } as const;
    const answers = await Promise.allSettled([
      operate(approve, request, by('lee'), platform),
      operate(approve, request, by('max'), platform),
      ...(round % 2 === 0
        ? []
        : [
            operate(cancelRequest, request, by('kim'), platform),
            operate(declineRequest, request, by('max'), platform),
          ]),
    ]);
    const done = (await actionsOn(subject)).slice(0, -before.length || undefined);
    const made = done.filter((each) => /approve|cancel|decline/.test(each));
    // An approval that stands can still be cancelled or declined, and nothing follows that.
    expect(made.length).toBe(answers.filter(({ status }) => status === 'fulfilled').length);
    expect(made.filter((each) => each.endsWith('approve')).length).toBeLessThanOrEqual(1);
    expect(made.filter((each) => !each.endsWith('approve')).length).toBeLessThanOrEqual(1);
    if (made.length === 2) expect(made[1]).toMatch(/approve$/);
    await database.sql`update approvals set closed_at = now(), closed_as = 'void' where closed_at is null`;
  }
});

test('of two who undo a decision, and of an undo and another decision, one counts', async () => {
  const platform = testPlatform(database.sql);
  for (let round = 0; round < ROUNDS; round += 1) {
    const game = fetchedGame({ game_id: `g${round}` });
    await upsertGames(database.sql, 'acme', [game]);
    const games = [{ game_id: game.game_id, revision: 1 }];
    const passed = await operate(passGames, { games }, by('lee'), platform);
    const audit_ids = [passed.games[0]?.game?.last?.audit_id ?? 0];
    const undo = (login: string) => operate(undoGameDecisions, { audit_ids }, by(login), platform);
    const reject = () =>
      operate(rejectGames, { games, reason: 'rights', seen_status: 'passed' }, by('max'), platform);
    await Promise.all([undo('lee'), round % 2 === 0 ? undo('max') : reject()]);
    const [row] = await database.sql`select audit_status from games where game_id = ${game.game_id}`;
    const actions = await actionsOn(`game:${game.game_id}`);
    expect(actions).toHaveLength(2);
    expect(row?.audit_status).toBe(actions[0]?.endsWith('reject') ? 'rejected' : 'pending');
  }
});
