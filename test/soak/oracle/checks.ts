/** What must hold when all is quiet. Each check returns what is wrong, in words. */
import type { Database } from '#db/client.ts';
import { recountGames } from '#db/queries/api-games.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import type { Truth } from '#test/soak/oracle/truth.ts';

/** Each selects rows that must not be there. */
const FORBIDDEN: Readonly<Record<string, string>> = {
  'a run is open': 'select run_id from sync_runs where finished_at is null',
  'a ping is not served': 'select * from refresh_requests',
  'a failure is left': 'select application_id, application_game_id, kind, reasons from ingest_failures',
  'a delivery did not arrive':
    "select event_id, state, last_error from event_deliveries where state <> 'delivered'",
  'an event has no position': 'select event_id from events where position is null',
  'a KYC record is not sealed':
    "select application_id, state, reason from kyc_states where state <> 'sealed'",
  "a game is not its last revision's": `
    select g.game_id, g.revision from games g left join game_revisions r using (game_id, revision)
    where r.content_hash is distinct from g.content_hash`,
  'a game has a gap in its revisions': `
    select game_id, max(revision), count(*) from game_revisions group by game_id having max(revision) <> count(*)`,
  "a game's status is not its standing decision's": `
    select g.game_id, g.audit_status from games g left join lateral standing_decision(g.game_id) d on true
    where g.audit_status <> case when d.revision = g.revision then d.audit_status else 'pending' end`,
  'a lane lacks a changed game, or has one too many': `
    select g.game_id, c.game_id is not null as is_in_lane
    from games g left join lateral standing_decision(g.game_id) d on true left join changed_games c on c.game_id = g.game_id
    where (g.audit_status = 'pending' and g.withdrawn_at is null and d.revision is not null) <> (c.game_id is not null)`,
  'a decision has no audit entry': `
    select audit_id from game_audits a where not exists (
      select from audit_log l
      where l.action in ('game.pass', 'game.reject') and l.details->'audit_id' = to_jsonb(a.audit_id))`,
  'an audit entry has no decision': `
    select entry_id from audit_log l where action in ('game.pass', 'game.reject')
      and not exists (select from game_audits a where l.details->'audit_id' = to_jsonb(a.audit_id))`,
  'an absence is open of a listed game, or none of a withdrawn one': `
    select g.game_id from games g
    where (withdrawn_at is not null)
       <> exists (select from game_absences a where a.game_id = g.game_id and a.returned_at is null)`,
  'an event is later than one that follows it': `
    select event_id from (
      select event_id, created_at,
             lead(created_at) over (partition by game_id order by position) as following from events
    ) as in_order where following < created_at`,
};

/** Games of an application, here and there, that differ. */
const compareGames = async (sql: Database, { applications }: Truth): Promise<string[]> => {
  const wrong: string[] = [];
  for (const { application_id, games } of applications) {
    const rows = await sql<{ application_game_id: string; game_name: string; game_desc: string }[]>`
      select application_game_id, game_name, game_desc from games
      where application_id = ${application_id} and withdrawn_at is null`;
    const stored = new Map(rows.map((row) => [row.application_game_id, row]));
    for (const game of games.all()) {
      const row = stored.get(game.game_id);
      if (row === undefined) wrong.push(`${application_id} has ${game.game_id}: it is not stored`);
      else if (row.game_desc !== game.game_info || row.game_name !== game.game_name)
        wrong.push(`${application_id} has another content of ${game.game_id}`);
      stored.delete(game.game_id);
    }
    wrong.push(...[...stored.keys()].map((id) => `${application_id} has no ${id}: it is stored`));
  }
  return wrong;
};

/** A listing that began before a game returned may end, and withdraw it, so much later. */
const LISTING_MS = 3 * 60_000;

const findFalseWithdrawals = async (sql: Database, { absences }: Truth): Promise<string[]> => {
  const withdrawals = await sql<{ application_id: string; game_id: string; at: Date }[]>`
    select g.application_id, g.application_game_id as game_id, a.withdrawn_at as at
    from game_absences a join games g using (game_id)`;
  return withdrawals
    .filter(
      ({ application_id, game_id, at }) =>
        !absences.some(
          (each) =>
            each.application_id === application_id &&
            each.game_id === game_id &&
            each.from < at.getTime() &&
            at.getTime() < each.until + LISTING_MS,
        ),
    )
    .map(({ application_id, game_id }) => `${application_id} never removed ${game_id}: it was withdrawn`);
};

type EventRow = {
  event_id: string;
  application_id: string;
  game_id: string;
  type: string;
  status: string;
  at: string;
};

/** Every change of a status has one event, the last of them tells the status, and each arrived where it belongs. */
const compareEvents = async (sql: Database, { received }: Truth): Promise<string[]> => {
  const events = await sql<EventRow[]>`
    select event_id, application_id, game_id, type, data->>'audit_status' as status, data->>'audit_time' as at
    from events order by position`;
  const wrong: string[] = [];
  const last = new Map<string, EventRow>();
  for (const event of events) {
    const before = last.get(event.game_id);
    if (before?.type === event.type && before.status === event.status && before.at === event.at)
      wrong.push(`${event.game_id} has two events of one change`);
    last.set(event.game_id, event);
    const at = received.get(event.event_id) ?? new Set();
    if (at.size !== 1 || !at.has(event.application_id))
      wrong.push(
        `${event.event_id} of ${event.application_id} arrived at: ${[...at].join(', ') || 'no application'}`,
      );
  }
  const games = await sql<{ game_id: string; audit_status: string; is_withdrawn: boolean }[]>`
    select game_id, audit_status, withdrawn_at is not null as is_withdrawn from games`;
  for (const { game_id, audit_status, is_withdrawn } of games) {
    const type = last.get(game_id)?.type ?? 'game.pending';
    const told = is_withdrawn ? 'game.withdrawn' : `game.${audit_status}`;
    if (type !== told && (last.has(game_id) || !is_withdrawn))
      wrong.push(`${game_id} is ${told}, and its last event ${type}`);
  }
  return wrong;
};

/** Contents that differ although a ping told of the last change. Before the runs that would find them anyway. */
export const findUnservedPings = async (
  sql: Database,
  { applications, pinged }: Truth,
): Promise<string[]> => {
  const wrong: string[] = [];
  for (const { application_id, games } of applications)
    for (const game_id of pinged.get(application_id) ?? []) {
      const rows = await sql<{ game_desc: string }[]>`
        select game_desc from games where application_id = ${application_id} and application_game_id = ${game_id}`;
      if (rows[0]?.game_desc !== games.get(game_id)?.game_info)
        wrong.push(`${application_id}: the ping of ${game_id} was accepted and not served`);
    }
  return wrong;
};

/** Everything that is wrong, a few of each kind. */
export const findViolations = async (sql: Database, truth: Truth): Promise<string[]> => {
  const wrong = [
    (await compareGames(sql, truth)).slice(0, 5),
    (await findFalseWithdrawals(sql, truth)).slice(0, 5),
    (await compareEvents(sql, truth)).slice(0, 5),
  ].flat();
  for (const [what, query] of Object.entries(FORBIDDEN)) {
    const rows = await sql.unsafe(query);
    if (rows.length > 0) wrong.push(`${what}, ${rows.length} times: ${JSON.stringify(rows.slice(0, 3))}`);
  }
  const drift = await recountGames(sql, { repair: false });
  if (drift.length > 0) wrong.push(`counters differ from the games: ${JSON.stringify(drift.slice(0, 3))}`);
  const { broken } = await verifyAudit(sql);
  if (broken !== null) wrong.push(`the audit log is broken at ${broken.entry_id}: ${broken.problem}`);
  return wrong;
};
