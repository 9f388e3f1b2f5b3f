import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { listBatchIds, listDecisions } from '#db/queries/decisions.ts';
import { findGame, listAudits } from '#db/queries/games.ts';
import { retireReason, saveReason } from '#db/queries/reasons.ts';
import { atFirstRevision, LEE, PASS, REJECT, useDecidedGames } from '#test/operations/decided-games.ts';
import { KIM } from '#test/support/factories.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';

const { database, add, addOne, change, lastOf } = useDecidedGames();
const statusOf = async (game_id: string) => (await findGame(database.sql, game_id))?.audit_status;

describe('A decision', () => {
  it('stands on the game, and keeps who, when, why, the revision and since when the game waited', async () => {
    const game_id = await addOne();
    const text = 'The icon is missing.';
    const request = { ...REJECT, text: ` ${text}\n`, note: 'second time' };
    const { batch_id, games } = await decideGames(database.sql, atFirstRevision([game_id]), request, KIM);
    const row = await findGame(database.sql, game_id);
    expect(row).toMatchObject({ audit_status: 'rejected', revision: 1 });
    const decision = { revision: 1, audit_status: 'rejected', decided_by: 'kim', reason: 'incomplete', text };
    expect(await listAudits(database.sql, game_id)).toMatchObject([
      {
        ...decision,
        note: 'second time',
        batch_id: null,
        decided_at: row?.audit_time,
        waiting_since: row?.created_at,
        undone_at: null,
      },
    ]);
    expect(batch_id).toBeNull();
    expect(games).toMatchObject([
      { game_id, revision: 1, result: 'decided', game: { audit_status: 'rejected', last: decision } },
    ]);
  });

  it('is in the audit log, without its texts', async () => {
    const game_id = await addOne();
    await decideGames(
      database.sql,
      atFirstRevision([game_id]),
      { ...REJECT, text: 'public', note: 'private' },
      KIM,
    );
    const audit_id = await lastOf(game_id);
    const entries = await listAudit(database.sql, { subject: `game:${game_id}`, limit: 9 });
    expect(entries).toMatchObject([
      { actor: 'kim', action: 'game.reject', reason: 'incomplete', details: { revision: 1, audit_id } },
    ]);
    expect(JSON.stringify(entries)).not.toContain('private');
  });

  it('is refused when the content has moved on since, and leaves no trace', async () => {
    const game_id = await addOne();
    await change(game_id, 1);
    const before = await findGame(database.sql, game_id);
    const { games } = await decideGames(database.sql, atFirstRevision([game_id]), PASS, KIM);
    expect(games).toMatchObject([{ result: 'content_moved', revision: 1, game: { revision: 2 } }]);
    expect(await findGame(database.sql, game_id)).toEqual(before);
    expect(await listAudits(database.sql, game_id)).toEqual([]);
    expect(await listAudit(database.sql, { subject: `game:${game_id}`, limit: 9 })).toEqual([]);
  });

  it('may be changed, and both decisions are kept; the same again changes nothing', async () => {
    const game_id = await addOne();
    const decide = async (request: Parameters<typeof decideGames>[2]) =>
      (await decideGames(database.sql, atFirstRevision([game_id]), request, KIM)).games[0]?.result;
    expect(await decide(PASS)).toBe('decided');
    expect(await decide(PASS)).toBe('unchanged');
    expect(await decide(REJECT)).toBe('decided');
    expect(await decide(REJECT)).toBe('unchanged');
    expect(await decide({ ...REJECT, reason: 'rights' })).toBe('decided');
    expect(await decide({ ...REJECT, reason: 'rights', text: 'Who made the music?' })).toBe('decided');
    const reasons = (await listAudits(database.sql, game_id)).map(({ reason }) => reason);
    expect(reasons).toEqual(['rights', 'rights', 'incomplete', null]);
    expect(await statusOf(game_id)).toBe('rejected');
  });

  it('from a lane is refused when another operator has decided, and names the operator', async () => {
    const game_id = await addOne();
    await decideGames(database.sql, atFirstRevision([game_id]), PASS, LEE);
    const request = { ...REJECT, seen_status: 'pending' } as const;
    const { games } = await decideGames(database.sql, atFirstRevision([game_id]), request, KIM);
    expect(games).toMatchObject([
      { result: 'decided_before', game: { audit_status: 'passed', last: { decided_by: 'lee' } } },
    ]);
  });

  it.for([{}, { seen_status: 'pending' }] as const)(
    'is refused for a withdrawn game, and leaves no trace: %j',
    async (seen) => {
      const game_id = await addOne();
      await database.sql`update games set withdrawn_at = now() where game_id = ${game_id}`;
      const { games } = await decideGames(
        database.sql,
        atFirstRevision([game_id]),
        { ...PASS, ...seen },
        KIM,
      );
      expect(games).toMatchObject([{ result: 'withdrawn', game: { audit_status: 'pending' } }]);
      expect(await listAudits(database.sql, game_id)).toEqual([]);
      expect(await listAudit(database.sql, { subject: `game:${game_id}`, limit: 9 })).toEqual([]);
    },
  );

  it.for<[request: Parameters<typeof decideGames>[2], message: RegExp]>([
    [{ audit_status: 'rejected' }, /needs a reason: choose one of incomplete, broken_media, misleading/],
    [{ audit_status: 'rejected', reason: 'no icon' }, /There is no reason "no icon"/],
    [{ audit_status: 'rejected', reason: '__proto__' }, /There is no reason/],
    [{ audit_status: 'rejected', reason: 'other' }, /The reason "other" needs a text/],
    [{ audit_status: 'rejected', reason: 'other', text: ' \n' }, /The reason "other" needs a text/],
    [{ ...REJECT, text: `${'x\r\n'.repeat(2_000)}x` }, /text is longer than 4000/],
    [{ ...REJECT, text: 'x'.repeat(4_001) }, /text is longer than 4000/],
    [{ ...REJECT, note: '\u0000' }, /note contains U\+0000/],
  ])('with a wrong reason or text is refused: %j', async ([request, message]) => {
    const game_id = await addOne();
    await expect(decideGames(database.sql, atFirstRevision([game_id]), request, KIM)).rejects.toThrow(
      message,
    );
    expect(await statusOf(game_id)).toBe('pending');
  });

  it('does not name a retired reason, but may name a new one', async () => {
    await saveReason(database.sql, { code: 'gambling', label: 'Games of chance', text: '' });
    const [first, second] = (await add(2)) as [string, string];
    const request = { audit_status: 'rejected', reason: 'gambling' } as const;
    await decideGames(database.sql, atFirstRevision([first]), request, KIM);
    await retireReason(database.sql, 'gambling');
    await expect(decideGames(database.sql, atFirstRevision([second]), request, KIM)).rejects.toThrow(
      'There is no reason',
    );
    expect(await listAudits(database.sql, first)).toMatchObject([{ reason: 'gambling' }]);
  });
});

describe('A batch', () => {
  it('decides on fifty, tells which two had moved, and is undone as one', async () => {
    const ids = await add(50);
    const [moved, undecided] = [ids[7] as string, ids[31] as string];
    for (const id of [moved, undecided]) await change(id, 1);
    const { batch_id, games } = await decideGames(database.sql, atFirstRevision(ids), PASS, KIM);
    expect(games.map(({ game_id }) => game_id)).toEqual(ids);
    expect(games.filter(({ result }) => result !== 'decided')).toMatchObject([
      { game_id: moved, result: 'content_moved', game: { revision: 2 } },
      { game_id: undecided, result: 'content_moved', game: { revision: 2 } },
    ]);
    const decisions = await listBatchIds(database.sql, batch_id ?? '');
    expect(decisions).toHaveLength(48);

    const [later, again] = [ids[0] as string, ids[1] as string];
    await change(later, 2);
    await decideGames(database.sql, atFirstRevision([again]), REJECT, LEE);
    const undone = await undoGameDecisions(database.sql, decisions, KIM);
    expect(undone.filter(({ result }) => result === 'undone')).toHaveLength(46);
    expect(undone.find(({ game_id }) => game_id === later)).toMatchObject({
      result: 'content_moved',
      game: { revision: 2 },
    });
    expect(undone.find(({ game_id }) => game_id === again)).toMatchObject({
      result: 'decided_since',
      game: { audit_status: 'rejected', last: { decided_by: 'lee' } },
    });
    const statuses = await Promise.all(ids.map(statusOf));
    expect(statuses.filter((status) => status === 'pending')).toHaveLength(49);
    expect(
      (await listDecisions(database.sql, decisions)).filter(({ undone_by }) => undone_by === 'kim'),
    ).toHaveLength(46);
  });

  it('reports games that are not there, and pairs that are given twice once', async () => {
    const game_id = await addOne();
    await change(game_id, 1);
    const seen = [1, 2, 2, 3].map((revision) => ({ game_id, revision }));
    const { games } = await decideGames(
      database.sql,
      [...seen, { game_id: randomUUID(), revision: 1 }],
      PASS,
      KIM,
    );
    expect(games.map(({ revision, result }) => `${revision} ${result}`)).toEqual([
      '1 content_moved',
      '2 decided',
      '3 content_moved',
      '1 unknown',
    ]);
    expect(await listAudits(database.sql, game_id)).toHaveLength(1);
  });

  it('is refused above a thousand games, and writes nothing when no game stands', async () => {
    const many = atFirstRevision(Array.from({ length: 1_001 }, () => randomUUID()));
    await expect(decideGames(database.sql, many, PASS, KIM)).rejects.toThrow('games must be at most 1000');
    const { batch_id } = await decideGames(database.sql, many.slice(1), PASS, KIM);
    expect(batch_id).toBeNull();
  });
});
