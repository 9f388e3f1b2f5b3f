/** Random histories of one developer, beside a model of which verdict stands and which games may be live. */
import { randomUUIDv7 } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Database } from '#db/client.ts';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { findGame, listAudits, upsertGames } from '#db/queries/games.ts';
import { findKycRecord, reopenErased } from '#db/queries/kyc.ts';
import { findLastVerdict } from '#db/queries/verdicts.ts';
import type { Verdict } from '#src/contract/words.ts';
import { CatalogueError } from '#src/errors.ts';
import { holdApplication, releaseApplication } from '#src/operations/holds.ts';
import { giveVerdict } from '#src/operations/verdicts.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import {
  acceptCpId,
  decideGame,
  eraseKyc,
  KIM,
  operateAs,
  removeApplication,
  reseal,
  undoGameDecisions,
} from '#test/support/operate.ts';

const GAMES = 3;
const KEYS = ['k1', 'k2', 'k3'];
const ALONE = { fourEyes: { kinds: [], onceTwo: false } } as const;

const game = fc.nat(GAMES - 1);
const step = fc.oneof(
  fc.record({
    do: fc.constant('pull'),
    field: fc.constantFrom('cp_short_name', 'tax_id', 'opening_bank', 'none'),
  }),
  fc.record({ do: fc.constant('new cp_id') }),
  fc.record({
    do: fc.constant('verdict'),
    verdict: fc.constantFrom<Verdict>('verified', 'verified', 'refused', 'incomplete'),
  }),
  fc.record({ do: fc.constantFrom('expire', 'erase', 'register again', 'hold', 'release') }),
  fc.record({ do: fc.constant('rotate keys'), game }),
  fc.record({ do: fc.constantFrom('gate on', 'gate on', 'gate off') }),
  fc.record({
    do: fc.constantFrom('pass', 'pass', 'pass', 'reject', 'undo', 'change', 'withdraw', 'list'),
    game,
  }),
);
type Step = { do: string; field?: string; verdict?: Verdict; game?: number };

const liveGames = async (sql: Database, application_id: string): Promise<Set<string>> => {
  const rows = await sql<{ game_id: string }[]>`
    select game_id from games
    where application_id = ${application_id} and audit_status = 'passed' and withdrawn_at is null`;
  return new Set(rows.map(({ game_id }) => game_id));
};

/** An operation that refuses in words changes nothing. @returns whether it was done */
const tried = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof CatalogueError) return false;
    throw error;
  }
};

/** One history, on an application of its own. */
const play = async (sql: Database, steps: readonly Step[]): Promise<void> => {
  const application_id = `d-${randomUUIDv7()}`;
  const actor = KIM.actor;
  const keys = { current: ringOf(KEYS) };
  const model = { verdict: null as Verdict | null, gate: false, held: false };
  const record = { ...PLANTED, cp_id: `cp-${application_id}` };
  const materialOf = ({ cp_short_name: _short, ...material }: typeof record) => JSON.stringify(material);
  let stored: string | undefined = materialOf(record);
  let clock = Date.now();
  const contents = Array.from({ length: GAMES }, (_, n) => ({ game_id: `g${n}`, game_info: 'first' }));
  const list = (n: number) => {
    clock += 1_000;
    return upsertGames(sql, application_id, [
      fetchedGame({ game_icon: [], game_store_pic: [], ...contents[n] }, new Date(clock)),
    ]);
  };
  const idOf = async (n = 0): Promise<string> => {
    const [row] = await sql<{ game_id: string }[]>`
      select game_id from games where application_id = ${application_id} and application_game_id = ${`g${n}`}`;
    return row?.game_id ?? '';
  };

  const acts: Record<string, (step: Step) => Promise<void>> = {
    pull: async ({ field = 'none' }) => {
      if (field !== 'none') Object.assign(record, { [field]: randomUUIDv7() });
      const outcome = await store(sql, keys.current, application_id, record);
      // A pull in the millisecond of the one before writes nothing: the next one then stores both changes.
      if (outcome === 'sealed' && materialOf(record) !== stored) model.verdict = null;
      if (outcome === 'sealed') stored = materialOf(record);
    },
    'new cp_id': async () => {
      Object.assign(record, { cp_id: `cp-${randomUUIDv7()}` });
      await store(sql, keys.current, application_id, record);
      // The record of the cp_id before is no longer its own.
      if (
        await tried(() =>
          acceptCpId({ sql, producer: () => Promise.reject() }, application_id, actor, record.cp_id, ALONE),
        )
      )
        model.verdict = null;
    },
    verdict: async ({ verdict = 'verified' }) => {
      const stored = await findKycRecord(sql, application_id);
      const given = {
        application_id,
        record_id: stored?.record_id ?? randomUUIDv7(),
        verdict,
        reason: 'a look',
      };
      // Between an accepted cp_id and its record there is nothing to decide on.
      const isDone = await operateAs(sql, actor, giveVerdict, given, ALONE).then(
        () => true,
        () => false,
      );
      if (isDone) model.verdict = verdict;
    },
    expire: async () => {
      await sql`update kyc_verdicts set expires_at = now() where application_id = ${application_id} and ended_at is null`;
      model.verdict = null;
    },
    erase: async () => {
      await eraseKyc(sql, application_id, { ...actor, reason: 'a request' }, ALONE);
      await reopenErased(sql, application_id);
      stored = undefined;
      model.verdict = null;
    },
    'register again': async () => {
      await removeApplication(sql, application_id);
      await addApplication(sql, application_id);
      model.verdict = null;
      for (let n = 0; n < GAMES; n += 1) await list(n);
    },
    'rotate keys': async ({ game: first = 0 }) => {
      keys.current = ringOf([...KEYS.slice(first), ...KEYS.slice(0, first)]);
      await reseal(sql, keys.current);
    },
    hold: async () => {
      await tried(() => operateAs(sql, actor, holdApplication, { application_id, reason: 'rights' }));
      model.held = true;
    },
    release: async () => {
      if (await tried(() => operateAs(sql, actor, releaseApplication, { application_id })))
        model.held = false;
    },
    'gate on': async () => {
      await setDecisionRules(sql, { games_need_verdict: true });
      model.gate = true;
    },
    'gate off': async () => {
      await setDecisionRules(sql, { games_need_verdict: false });
      model.gate = false;
    },
    pass: async ({ game: n }) => {
      const found = await findGame(sql, await idOf(n));
      if (found !== undefined) await decideGame(sql, { ...found, audit_status: 'passed' });
    },
    reject: async ({ game: n }) => {
      const found = await findGame(sql, await idOf(n));
      if (found !== undefined)
        await decideGame(sql, { ...found, audit_status: 'rejected', reason: 'rights' });
    },
    undo: async ({ game: n }) => {
      const [last] = (await listAudits(sql, await idOf(n))).filter(({ undone_at }) => undone_at === null);
      if (last !== undefined) await undoGameDecisions(sql, [last.audit_id], actor);
    },
    change: async ({ game: n = 0 }) => {
      Object.assign(contents[n] ?? {}, { game_info: randomUUIDv7() });
      await list(n);
    },
    list: async ({ game: n = 0 }) => void (await list(n)),
    withdraw: async ({ game: n }) => {
      await sql`update games set withdrawn_at = now() where game_id = ${await idOf(n)}`;
    },
  };

  await setDecisionRules(sql, { games_need_verdict: false });
  await addApplication(sql, application_id);
  await store(sql, keys.current, application_id, record);
  for (let n = 0; n < GAMES; n += 1) await list(n);
  for (const each of steps) {
    const before = await liveGames(sql, application_id);
    await acts[each.do]?.(each);
    const last = await findLastVerdict(sql, application_id);
    expect(last?.state === 'standing' ? last.verdict : null).toBe(model.verdict);
    const after = await liveGames(sql, application_id);
    if (model.held) expect(after).toEqual(new Set());
    const isNew = [...after].some((game_id) => !before.has(game_id));
    if (isNew && model.gate) expect(model.verdict).toBe('verified');
  }
  // A rotation wraps the keys of every record again.
  await eraseKyc(sql, application_id, { ...actor, reason: 'the end' }, ALONE);
};

/** Plays random histories. */
export const playHistories = (sql: Database, numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), (steps) => play(sql, steps as Step[])),
    { numRuns },
  );
