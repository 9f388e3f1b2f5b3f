import { randomUUIDv7 } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Database } from '#db/client.ts';
import { findRunStep } from '#db/queries/run-steps.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { finishRun } from '#src/ingest/finish-run.ts';
import { openRun } from '#src/ingest/steps.ts';
import { writePageDetails } from '#src/ingest/write-details.ts';
import { aDetail, addApplication, fetchedDetail, summaryOf } from '#test/support/factories.ts';
import { anApplication, type ListEvent, listEvent } from '#test/support/moving-list.ts';
import { runEndings } from '#test/support/operate.ts';
import { recordPage } from '#test/support/record-page.ts';

/** One run; with `failing` n, about every n-th detail fails. */
type Plan = { events: ListEvent[]; failing: number; acceptsSuspect: boolean };

const PAGE = 5;
const PAGE_CAP = 40;
const RUNS_EACH = 10;

type Application = ReturnType<typeof anApplication>;

/** The rows of one page, after the events before it. */
const servePage = ({ live, apply }: Application, { events }: Plan, page_num: number): string[] => {
  const now = events.filter(({ page }) => page === page_num);
  for (const event of now) apply(event);
  if (events.some(({ what, page }) => what === 'end early' && page <= page_num)) return [];
  const served = now.some(({ what }) => what === 'repeat') ? Math.max(1, page_num - 1) : page_num;
  return live.slice((served - 1) * PAGE, served * PAGE);
};

const summary = (game_id: string) => summaryOf(aDetail({ game_id }));

/** Writes what the details of a page's open games say: the game, null, or a failure. */
const answerDetails = async (
  sql: Database,
  run: RunRow,
  page_num: number,
  { live }: Application,
  { failing }: Plan,
) => {
  const [page] = await sql<{ ids: string[] }[]>`
    select array(select jsonb_object_keys(open_games)) as ids from sync_run_pages
    where run_id = ${run.run_id} and page_num = ${page_num}`;
  const fails = (id: string) => failing > 0 && id.length % failing === 0;
  const ids = page?.ids ?? [];
  const answers = ids
    .filter((id) => !fails(id))
    .map((application_game_id) => ({
      application_game_id,
      game: live.includes(application_game_id)
        ? fetchedDetail({ game_id: application_game_id }, new Date())
        : null,
    }));
  const failures = ids.filter(fails).map((application_game_id) => ({
    application_game_id,
    kind: 'http_status',
    reasons: [{ path: '', code: 'http_status' }],
    isAnswered: true,
  }));
  if (ids.length > 0) await writePageDetails(sql, run, page_num, answers, failures);
  return answers.filter(({ game }) => game === null).map(({ application_game_id }) => application_game_id);
};

/** One run as the jobs run it. @returns what the application said meanwhile, and the closed run */
const runOnce = async (
  sql: Database,
  application_id: string,
  application: Application,
  plan: Plan,
  accept: boolean,
) => {
  const options = { trigger: 'schedule', full: false, accept_withdrawals: accept } as const;
  const { run } = await openRun(sql, { run_id: randomUUIDv7(), application_id, ...options });
  const named = new Set<string>();
  const saidNull = new Set<string>();
  const liveThroughout = new Set(application.live);
  let [total, hasEmptyPage, end, page_num]: [number, boolean, string | null, number] = [0, false, null, 1];
  for (; end === null; page_num += 1) {
    const rows = servePage(application, plan, page_num);
    for (const id of liveThroughout) if (!application.live.includes(id)) liveThroughout.delete(id);
    const step = await findRunStep(sql, run, page_num - 1);
    if (step === undefined) throw new Error('the run is open');
    const cursor = { application: step.application, run: step.run, previous: step.page };
    const answer = { total: application.live.length, list: rows.map(summary) };
    const page = await recordPage(sql, cursor, answer, PAGE_CAP);
    for (const id of rows) named.add(id);
    if (rows.length > 0) total = answer.total;
    hasEmptyPage ||= rows.length === 0 && named.size < answer.total;
    await answerDetails(sql, run, page_num, application, plan);
    end = page?.end ?? null;
  }
  let closed = await finishRun(runEndings(sql), run);
  while (closed?.finished_at === null) {
    const verified = closed.next_page - 1;
    for (const id of await answerDetails(sql, run, verified, application, plan)) saidNull.add(id);
    closed = await finishRun(runEndings(sql), run, verified);
  }
  if (closed === undefined) throw new Error('the run is closed');
  const isComplete = end === 'complete' && !hasEmptyPage && named.size >= total;
  return { closed, named, saidNull, liveThroughout, isComplete, end };
};

const simulate = async (sql: Database, size: number, plans: readonly Plan[]): Promise<void> => {
  const application_id = `app-${randomUUIDv7()}`;
  await addApplication(sql, application_id);
  const application = anApplication(size);
  const withdrawn = async () => {
    const rows = await sql<{ id: string; gone: boolean }[]>`
      select application_game_id as id, withdrawn_at is not null as gone from games
      where application_id = ${application_id}`;
    return new Map(rows.map(({ id, gone }) => [id, gone]));
  };
  /** Complete listings in a row that have not named a game, and those since it was gone. */
  const missedBy = new Map<string, number>();
  const goneFor = new Map<string, number>();

  const check = async (plan: Plan, accept: boolean) => {
    const before = await withdrawn();
    const goneBefore = [...before.keys()].filter((id) => !application.live.includes(id));
    const { closed, named, saidNull, liveThroughout, isComplete, end } = await runOnce(
      sql,
      application_id,
      application,
      plan,
      accept,
    );
    const after = await withdrawn();
    const newly = [...after].filter(([id, gone]) => gone && before.get(id) === false).map(([id]) => id);
    // A game that moves past a page while the list is read may count on two pages.
    expect(closed.listed).toBeGreaterThanOrEqual(named.size);
    expect(closed.withdrawn).toBe(newly.length);
    for (const id of named) {
      expect(after.get(id) ?? false).toBe(false);
      missedBy.set(id, 0);
      goneFor.set(id, 0);
    }
    for (const id of before.keys())
      if (!named.has(id) && isComplete) missedBy.set(id, (missedBy.get(id) ?? 0) + 1);
    if (end !== 'complete') expect(newly).toEqual([]);
    // No live game is withdrawn that null did not confirm and only one complete listing missed.
    if (!accept) for (const id of newly) expect(saidNull.has(id) || (missedBy.get(id) ?? 0) >= 2).toBe(true);
    // A run misses only games that the platform has seen.
    const missed = [...liveThroughout].filter((id) => before.get(id) === false && !named.has(id));
    if (missed.length > 0 && !accept) expect(closed.outcome).not.toBe('succeeded');
    if (!isComplete || closed.outcome === 'suspect') return closed.outcome;
    for (const id of goneBefore.filter((gone) => !named.has(gone))) {
      goneFor.set(id, (goneFor.get(id) ?? 0) + 1);
      // A gone game is withdrawn within two complete listings.
      if ((goneFor.get(id) ?? 0) >= 2) expect(after.get(id)).toBe(true);
    }
    return closed.outcome;
  };

  for (const plan of plans)
    if ((await check(plan, false)) === 'suspect' && plan.acceptsSuspect)
      await check({ ...plan, events: [] }, true);
};

const plan = fc.record({
  events: fc.array(listEvent, { maxLength: 4 }),
  failing: fc.nat({ max: 4 }),
  acceptsSuspect: fc.boolean(),
});

/** Plays runs over lists that move, shrink, grow, repeat, end early and come back: they withdraw no live game. */
export const playRuns = async (sql: Database, runs: number): Promise<void> => {
  const plans = fc.array(plan, { minLength: RUNS_EACH, maxLength: RUNS_EACH });
  const simulateIn = (size: number, each: readonly Plan[]) => simulate(sql, size, each);
  await fc.assert(fc.asyncProperty(fc.nat({ max: 40 }), plans, simulateIn), {
    numRuns: runs / RUNS_EACH,
    endOnFailure: true,
  });
};
