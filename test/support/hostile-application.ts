import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import type { ApplicationSettings } from '#db/queries/applications.ts';
import type { JobLimits } from '#src/processes/job-dependencies.ts';
import { PACE } from '#src/rules/budgets.ts';
import { createProcessPace } from '#src/webhooks/pace.ts';
import { type RawServer, startRawServer } from '#test/support/application-server.ts';
import { aDetail, addApplication, summaryOf, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, startTestFleet, type TestFleet } from '#test/support/fleet.ts';

/** A response: data for a success envelope, or a function that writes the response itself. */
export type Answer = { data: unknown } | ((response: ServerResponse) => void);

export type Behaviour = {
  list: (pageNum: number, pageSize: number) => Answer;
  detail: (gameId: string) => Answer;
};

export const success = (data: unknown): string => JSON.stringify({ ret_code: 0, ret_msg: 'success', data });

/** An answer of these bytes. */
export const raw =
  (body: string | Uint8Array, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** A game whose detail and list entry are in order. */
export const goodDetail = (game_id: string) => aDetail({ game_id, game_name: `Game ${game_id}` });
export const goodRow = (game_id: string) => summaryOf(goodDetail(game_id));

/** A list of one page of good games, whose details are in order. */
export const wellBehaved = (ids: readonly string[]): Behaviour => ({
  list: (pageNum) => ({ data: { total: ids.length, list: pageNum === 1 ? ids.map(goodRow) : [] } }),
  detail: (gameId) => ({ data: goodDetail(gameId) }),
});

export const idsOf = (prefix: string, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(from + index).padStart(4, '0')}`);

/** A server with the given behaviour, which may change while it runs. */
export type HostileApplication = {
  server: RawServer;
  behaviour: Behaviour;
  calls: { list: number; detail: number };
};

/** Starts and registers an application with the given behaviour; it ends with the test. */
export const startHostileApplication = async (
  fleet: TestFleet,
  application_id: string,
  behaviour: Behaviour,
  settings: Partial<ApplicationSettings> = {},
): Promise<HostileApplication> => {
  const calls = { list: 0, detail: 0 };
  const server = await startRawServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const isList = request.url?.endsWith('query_game_list') === true;
    calls[isList ? 'list' : 'detail'] += 1;
    const { list, detail } = application.behaviour;
    const answer = isList ? list(body.page_num, body.page_size) : detail(body.game_id);
    if (typeof answer === 'function') answer(response);
    else response.end(success(answer.data));
  });
  onTestFinished(server.close);
  const application = { server, behaviour, calls };
  await addApplication(fleet.sql, application_id, { ...webhooksAt(server.url), ...settings });
  return application;
};

/** No application of a test waits for what its large responses cost: that is the subject of test/webhooks/pace. */
const unpaced = createProcessPace({
  ...PACE,
  bytesOfOne: Infinity,
  bytes: Infinity,
  share: Infinity,
  shareOfOne: Infinity,
});

/** A fleet with one worker. */
export const aFleet = async (limits: JobLimits = {}): Promise<TestFleet> => {
  const fleet = await startTestFleet(fleetBackend(), { pace: unpaced, ...limits });
  onTestFinished(() => fleet.stop());
  await fleet.startWorker();
  return fleet;
};

/** What is quarantined: by operation and game, the kind and the reasons as `path: code`. */
export const quarantined = async (
  fleet: TestFleet,
  application_id: string,
): Promise<Record<string, string>> => {
  const rows = await fleet.sql<
    {
      operation: string;
      application_game_id: string;
      kind: string;
      reasons: { path: string; code: string }[];
    }[]
  >`select operation, application_game_id, kind, reasons from ingest_failures
    where application_id = ${application_id} order by operation, application_game_id`;
  return Object.fromEntries(
    rows.map(({ operation, application_game_id, kind, reasons }) => [
      `${operation.replace('query_game_', '')} ${application_game_id}`,
      `${kind} (${reasons.map(({ path, code }) => (path === '' ? code : `${path}: ${code}`)).join(', ')})`,
    ]),
  );
};
