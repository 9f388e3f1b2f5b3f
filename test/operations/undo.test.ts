import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { findGame, listAudits } from '#db/queries/games.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { laneList } from '#src/lists/review.ts';
import { atFirstRevision, LEE, PASS, REJECT, useDecidedGames } from '#test/operations/decided-games.ts';
import { KIM } from '#test/support/factories.ts';
import { readPage } from '#test/support/lists.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';

const { database, add, addOne, change, lastOf } = useDecidedGames();

describe('An undo', () => {
  const undo = async (audit_id: number) =>
    (await undoGameDecisions(database.sql, [audit_id], KIM))[0]?.result;

  it('returns a game to its place in the lane from which it was decided', async () => {
    const ids = await add(3);
    const [first = ''] = ids;
    await decideGames(database.sql, atFirstRevision([first]), PASS, KIM);
    expect(await undo(await lastOf(first))).toBe('undone');
    const fresh = (await readPage(database.sql, laneList, {}, { limit: 500 })).rows.map(
      ({ game_id }) => game_id,
    );
    expect(fresh.filter((id) => ids.includes(id))).toEqual(ids);
    expect(await undo(await lastOf(first))).toBe('undone_before');

    for (const id of ids) {
      await decideGames(database.sql, atFirstRevision([id]), PASS, KIM);
      await change(id, 1);
    }
    await decideGames(database.sql, [{ game_id: first, revision: 2 }], REJECT, KIM);
    expect(await undo(await lastOf(first))).toBe('undone');
    const changed = (await readPage(database.sql, laneList, { lane: 'changed' }, { limit: 500 })).rows;
    expect(changed.map(({ game_id }) => game_id).filter((id) => ids.includes(id))).toEqual(ids);
    expect(changed.find(({ game_id }) => game_id === first)).toMatchObject({
      decided_revision: 1,
      decided_status: 'passed',
    });
  });

  it('of a second decision returns to the first, with its time', async () => {
    const game_id = await addOne();
    await decideGames(database.sql, atFirstRevision([game_id]), PASS, KIM);
    const passed = await findGame(database.sql, game_id);
    await decideGames(database.sql, atFirstRevision([game_id]), REJECT, LEE);
    expect(await undo(await lastOf(game_id))).toBe('undone');
    expect(await findGame(database.sql, game_id)).toMatchObject({
      audit_status: 'passed',
      audit_time: passed?.audit_time,
    });
    expect(await listAudit(database.sql, { subject: `game:${game_id}`, limit: 1 })).toMatchObject([
      { action: 'game.undo', actor: 'kim' },
    ]);
  });

  it('of a decision that is not there is refused', async () => {
    await expect(undoGameDecisions(database.sql, [987_654_321], KIM)).rejects.toThrow(
      'There is no decision "987654321"',
    );
  });
});

describe('A race', () => {
  it('of two reviewers on the same games of a lane decides each game once, in any order', async () => {
    const ids = await add(30);
    const from = (order: readonly string[], actor: typeof KIM, request: typeof PASS | typeof REJECT) =>
      decideGames(database.sql, atFirstRevision(order), { ...request, seen_status: 'pending' }, actor);
    const [one, two] = await Promise.all([from(ids, KIM, PASS), from(ids.toReversed(), LEE, REJECT)]);
    const decided = [...one.games, ...two.games].filter(({ result }) => result === 'decided');
    expect(decided.map(({ game_id }) => game_id).sort()).toEqual(ids);
    for (const id of ids) expect(await listAudits(database.sql, id)).toHaveLength(1);
  });

  it('of decisions, undos and changes leaves each game in the status of its last decision that stands', async () => {
    const acts = fc.array(fc.constantFrom('pass', 'reject', 'change', 'undo'), {
      minLength: 8,
      maxLength: 16,
    });
    let minute = 5;
    await fc.assert(
      fc.asyncProperty(acts, async (steps) => {
        const ids = await add(3);
        await Promise.all(
          steps.map(async (step, index) => {
            minute += 1;
            const order = index % 2 === 0 ? ids : ids.toReversed();
            const games = await Promise.all(order.map((id) => findGame(database.sql, id)));
            const seen = games.map((game) => ({
              game_id: game?.game_id ?? '',
              revision: game?.revision ?? 0,
            }));
            if (step === 'change') for (const id of order) await change(id, minute, `${minute} ${index}`);
            else if (step === 'undo') {
              const last = await Promise.all(order.map(lastOf));
              await undoGameDecisions(database.sql, last, LEE).catch(() => undefined);
            } else await decideGames(database.sql, seen, step === 'pass' ? PASS : REJECT, KIM);
          }),
        );
        const wrong = await database.sql`
          select g.game_id, g.audit_status, last.audit_status as decided, g.revision, last.revision as on_revision
          from games g left join lateral (
            select * from game_audits a where a.game_id = g.game_id and undone_at is null order by audit_id desc limit 1
          ) last on true
          where g.game_id = any(${ids}::uuid[]) and (
            g.audit_status is distinct from
              case when last.revision = g.revision then last.audit_status else 'pending' end
            or g.audit_time is distinct from case when last.revision = g.revision then last.decided_at end
            or exists (select from changed_games c where c.game_id = g.game_id)
              is distinct from (g.audit_status = 'pending' and last.audit_id is not null))`;
        expect([...wrong]).toEqual([]);
      }),
      { numRuns: 15 },
    );
    expect((await verifyAudit(database.sql)).broken).toBeNull();
  });
});
