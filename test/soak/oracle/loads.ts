/** What goes on while sessions are killed: changes, pings, decisions, decisions taken back, new KYC records. */
import { randomInt, randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/client.ts';
import type { FleetApplication } from '#test/fleet/application.ts';
import type { World } from '#test/fleet/world.ts';
import type { Truth } from '#test/soak/oracle/truth.ts';
import { post } from '#test/support/api.ts';
import { KIM } from '#test/support/factories.ts';
import { decideGames, undoGameDecisions } from '#test/support/operate.ts';

type Counts = {
  kills: number;
  decided: number;
  undone: number;
  changes: number;
  pings: number;
  errors: number;
};
type Given = { world: World; truth: Truth; killer: Database; api: string; killMs: number };

const one = <Item>(items: readonly Item[]): Item | undefined => items[randomInt(Math.max(items.length, 1))];

/** A change that the list does not show: only a ping, or the age of the detail, leads to it. */
const changeDetail = ({ games }: FleetApplication, game_id: string) =>
  games.update(game_id, { game_info: `changed ${randomUUIDv7()}` });

const changeName = ({ games }: FleetApplication, game_id: string) =>
  games.update(game_id, { game_name: `Renamed ${randomUUIDv7()}` });

/** Starts every load. Each repeats until `stop`, whatever fails meanwhile. */
export const startLoads = ({ world: { sql }, truth, killer, api, killMs }: Given) => {
  const counts: Counts = { kills: 0, decided: 0, undone: 0, changes: 0, pings: 0, errors: 0 };
  let isOver = false;
  const repeat = async (everyMs: number, act: () => Promise<void>): Promise<void> => {
    while (!isOver) {
      await act().catch(() => {
        counts.errors += 1;
      });
      await sleep(everyMs * (0.5 + Math.random()));
    }
  };

  const kill = async () => {
    const killed = await killer`
      select pg_terminate_backend(pid) from (
        select pid from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        order by random() limit 1
      ) as any_session`;
    counts.kills += killed.length;
  };

  const ping = async ({ application_id }: FleetApplication, game_id: string) => {
    const body = { game_ids: [game_id] };
    const token = truth.tokens.get(application_id) ?? '';
    const { status } = await post(api, '/open-api/game/refresh', token, body);
    if (status !== 200) return;
    counts.pings += 1;
    truth.pinged.get(application_id)?.add(game_id);
  };

  const change = async () => {
    const application = one(truth.applications);
    const game = one(application?.games.all() ?? []);
    if (application === undefined || game === undefined) return;
    const { application_id, games } = application;
    counts.changes += 1;
    truth.pinged.get(application_id)?.delete(game.game_id);
    const kind = Math.random();
    if (kind < 0.25) games.add({ ...game, game_id: `new-${counts.changes}` });
    else if (kind < 0.45) {
      games.remove(game.game_id);
      truth.absences.push({ application_id, game_id: game.game_id, from: Date.now(), until: Infinity });
    } else if (kind < 0.55) {
      const gone = truth.absences.filter((each) => each.until === Infinity);
      const back = one(gone.filter((each) => each.application_id === application_id));
      if (back === undefined) return;
      games.add({ ...game, game_id: back.game_id });
      back.until = Date.now();
    } else if (kind < 0.75) changeName(application, game.game_id);
    else {
      changeDetail(application, game.game_id);
      await ping(application, game.game_id);
    }
  };

  const decide = async () => {
    const seen = await sql<{ game_id: string; revision: number }[]>`
      select game_id, revision from games where withdrawn_at is null and random() < 0.02 limit ${1 + randomInt(20)}`;
    if (seen.length === 0) return;
    const request =
      Math.random() < 0.6
        ? ({ audit_status: 'passed' } as const)
        : ({ audit_status: 'rejected', reason: 'duplicate' } as const);
    const { games } = await decideGames(sql, [...seen], request, KIM);
    counts.decided += games.filter(({ result }) => result === 'decided').length;
  };

  const undo = async () => {
    const rows = await sql<{ audit_id: number }[]>`
      select audit_id from game_audits where undone_at is null order by random() limit ${1 + randomInt(8)}`;
    if (rows.length === 0) return;
    const undone = await undoGameDecisions(
      sql,
      rows.map(({ audit_id }) => audit_id),
      KIM,
    );
    counts.undone += undone.filter(({ result }) => result === 'undone').length;
  };

  const moveOffice = async () => {
    const application = one(truth.applications);
    if (!application?.games.kyc) return;
    application.games.kyc = { ...application.games.kyc, registered_address: `Street ${randomUUIDv7()}` };
  };

  const cut = async () => one(truth.applications)?.cut();

  const running = Promise.all([
    repeat(killMs, kill),
    repeat(500, change),
    repeat(400, decide),
    repeat(1_500, undo),
    repeat(5_000, moveOffice),
    repeat(10_000, cut),
  ]);
  return {
    counts,
    stop: async (): Promise<void> => {
      isOver = true;
      await running;
    },
  };
};
