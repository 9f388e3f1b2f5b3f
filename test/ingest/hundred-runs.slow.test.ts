import { beforeAll, expect, test } from 'vitest';
import { createAddressSigner } from '#src/sample-application/signer.ts';
import { KIM } from '#test/support/factories.ts';
import { onBothBackends, useTestFleet } from '#test/support/fleet.ts';
import { decideGames } from '#test/support/operate.ts';
import { SIGNED_ADDRESSES } from '#test/support/signed-addresses.ts';

const RUNS = 100;
const GAMES = 30;
const EVERY_MS = 15 * 60_000;
const PASSED = { audit_status: 'passed' } as const;
const REJECTED = { audit_status: 'rejected', reason: 'rights' } as const;

/** Signs each address by one of the services of the table, in two ways by turns. */
const signAsDocumented = (turn: () => number) => ({
  sign: (address: string): string => {
    const place = [...address].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0);
    const signer = SIGNED_ADDRESSES[place % SIGNED_ADDRESSES.length];
    if (signer === undefined) throw new Error('no signer');
    const shown = turn() % 2 === 0 ? signer.address : signer.again;
    return `${address}?${shown.slice(signer.plain.length + 1)}`;
  },
  isValid: () => true,
});

/**
 * The lower quartile of the runs' bytes. Chores of the worker fall into up to half of the runs,
 * and into a few the end of the run's job does not fall, because it is written after the run's own end.
 */
const lowerQuartile = (bytes: number[]): number =>
  Number(bytes.toSorted((one, other) => one - other)[Math.floor(bytes.length / 4)]);

onBothBackends('a hundred runs with decisions between them', (kind) => {
  const fleet = useTestFleet(kind);
  beforeAll(() => fleet.startWorker());

  /** Bytes of WAL that Postgres has written. */
  const walBytes = async (): Promise<number> => {
    const [row] = await fleet.sql<{ bytes: number }[]>`
      select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`;
    return row?.bytes ?? 0;
  };

  /** The first run, with every game passed. */
  const land = async (application_id: string) => {
    const listed = await fleet.sync(application_id);
    expect(listed).toMatchObject({ outcome: 'succeeded', inserted: GAMES });
    const games = await fleet.sql<{ game_id: string; revision: number }[]>`
      select game_id, revision from games where application_id = ${application_id} order by game_id`;
    await decideGames(fleet.sql, games, { audit_status: 'passed' }, KIM);
    return { application_id, games, bytes: [] as number[] };
  };

  /** Runs applications a hundred times by turns, with a decision after each run. @returns what became of each */
  const runOften = async (application_ids: string[], onRun: () => void = () => {}) => {
    const landed = [];
    for (const application_id of application_ids) landed.push(await land(application_id));
    for (let run = 0; run < RUNS; run += 1) {
      onRun();
      const isPass = run % 2 === 1;
      const decision = isPass ? PASSED : REJECTED;
      for (const each of landed) {
        const before = await walBytes();
        const ended = await fleet.sync(each.application_id);
        each.bytes.push((await walBytes()) - before);
        expect(ended).toMatchObject({ outcome: 'succeeded', updated: 0, inserted: 0, note: null });
        const at = Math.floor(run / 2) % GAMES;
        await decideGames(fleet.sql, each.games.slice(at, at + 1), decision, KIM);
      }
    }
    return Promise.all(
      landed.map(async ({ application_id, bytes }) => {
        const statuses = await fleet.sql`
          select audit_status, revision, count(*)::int as games from games
          where application_id = ${application_id} group by 1, 2`;
        const [{ events } = { events: 0 }] = await fleet.sql<{ events: number }[]>`
          select count(*)::int as events from events where application_id = ${application_id}`;
        const [{ revisions } = { revisions: 0 }] = await fleet.sql<{ revisions: number }[]>`
          select count(*)::int as revisions from game_revisions join games using (game_id)
          where application_id = ${application_id}`;
        return { bytes: lowerQuartile(bytes), statuses, events, revisions };
      }),
    );
  };
  const asDecided = {
    statuses: [{ audit_status: 'passed', revision: 1, games: GAMES }],
    events: GAMES + RUNS,
    revisions: GAMES,
  };

  test('signed addresses cost no detail call, and at most a fifth more WAL than constant ones', async () => {
    const constant = await fleet.addApplication('constant', GAMES, { every_ms: EVERY_MS });
    const signed = await fleet.addApplication(
      'signed',
      GAMES,
      { every_ms: EVERY_MS },
      createAddressSigner(24 * 3_600),
    );
    const results = await runOften(['constant', 'signed']);
    expect(results).toMatchObject([asDecided, asDecided]);
    expect([constant.server.calls.query_game_detail, signed.server.calls.query_game_detail]).toEqual([
      GAMES,
      GAMES,
    ]);
    const [plain, moving] = results.map(({ bytes }) => bytes);
    expect(Number(moving) / Number(plain)).toBeLessThan(1.2);
  });

  test('no signer of the table causes a revision, a status or an event, also if its addresses have ended', async () => {
    let turn = 0;
    await fleet.addApplication(
      'all',
      GAMES,
      { every_ms: EVERY_MS },
      signAsDocumented(() => turn),
    );
    const results = await runOften(['all'], () => {
      turn += 1;
    });
    expect(results).toMatchObject([asDecided]);
  });

  test('nor does a parameter that the operator has named', async () => {
    let turn = 0;
    const stamp = { sign: (address: string) => `${address}?v=2&t=${turn}`, isValid: () => true };
    const settings = { every_ms: EVERY_MS, volatile_parameters: ['t'] };
    const { server } = await fleet.addApplication('stamped', GAMES, settings, stamp);
    const results = await runOften(['stamped'], () => {
      turn += 1;
    });
    expect(results).toMatchObject([asDecided]);
    expect(server.calls.query_game_detail).toBe(GAMES);
  });
});
