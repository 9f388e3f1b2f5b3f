import { describe, expect, it } from 'vitest';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { holdApplication, releaseApplication } from '#src/operations/holds.ts';
import { acme, useGameOfDeveloper } from '#test/operations/game-of-developer.ts';
import { decideGames, KIM, operateAs } from '#test/support/operate.ts';

const { database, recordId, verdictOn, pass, statusOf, events, gameId } = useGameOfDeveloper();

describe('a hold', () => {
  const hold = () => operateAs(database.sql, KIM.actor, holdApplication, { ...acme, reason: 'The rights.' });
  const release = () => operateAs(database.sql, KIM.actor, releaseApplication, acme);

  it('makes every passed game pending and refuses the next pass; a release makes them live again', async () => {
    await pass();
    expect(await hold()).toMatchObject({ games: 1 });
    expect(await statusOf()).toBe('pending');
    expect(await pass()).toBe('held');
    await expect(hold()).rejects.toThrow('held already');
    expect(await release()).toMatchObject({ games: 1 });
    expect(await statusOf()).toBe('passed');
    await expect(release()).rejects.toThrow('is not held');
    expect((await events()).map(({ type, why }) => `${type} ${why}`)).toEqual([
      'game.passed decided',
      'game.pending held',
      'game.passed released',
    ]);
  });

  it('leaves a game pending whose content or decision changed meanwhile', async () => {
    await pass();
    await hold();
    await decideGames(
      database.sql,
      [{ game_id: gameId(), revision: 1 }],
      { audit_status: 'rejected', reason: 'rights' },
      KIM.actor,
    );
    expect(await release()).toMatchObject({ games: 0 });
    expect(await statusOf()).toBe('rejected');
  });

  it('is not released while games need a verdict that does not stand', async () => {
    await pass();
    await hold();
    await setDecisionRules(database.sql, { games_need_verdict: true });
    await expect(release()).rejects.toThrow('a KYC officer gives one first');
    await verdictOn(await recordId());
    expect(await release()).toMatchObject({ games: 1 });
  });
});
