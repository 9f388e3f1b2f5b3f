/** What the applications of an oracle hold, what they held, and the events that they received. */
import { randomInt } from 'node:crypto';
import { updateApplication } from '#db/queries/applications.ts';
import type { FleetApplication } from '#test/fleet/application.ts';
import type { World } from '#test/fleet/world.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { giveAddress } from '#test/support/events.ts';
import { addToken } from '#test/support/factories.ts';

const SETTINGS = { every_ms: 60_000, kyc_every_ms: 60_000, detail_max_age_ms: 300_000 };
/** One of this many deliveries is answered with 500. */
const REFUSED_SHARE = 20;

/** A game that its application removed. Times in ms since the epoch; `until` is Infinity while it is gone. */
export type Absence = { application_id: string; game_id: string; from: number; until: number };

export type Truth = {
  applications: readonly FleetApplication[];
  /** Token of the API, by application. */
  tokens: ReadonlyMap<string, string>;
  absences: Absence[];
  /** The games whose last change was told by a ping that the API accepted. */
  pinged: Map<string, Set<string>>;
  /** The applications at which each event arrived, by its id. */
  received: Map<string, Set<string>>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** Gives every application fast schedules, a token, and an address for events. */
export const openTruth = async ({ applications, sql }: World): Promise<Truth> => {
  const received = new Map<string, Set<string>>();
  const receiver = await startRawServer(async (request, response) => {
    for await (const _ of request);
    const id = String(request.headers['webhook-id']);
    const at = received.get(id) ?? new Set();
    received.set(id, at.add(request.url?.slice(1) ?? ''));
    response.writeHead(randomInt(REFUSED_SHARE) === 0 ? 500 : 204).end();
  });
  const tokens = new Map<string, string>();
  for (const { application_id } of applications) {
    await updateApplication(sql, application_id, SETTINGS);
    await giveAddress(sql, application_id, `${receiver.url}/${application_id}`);
    tokens.set(application_id, (await addToken(sql, application_id)).token);
  }
  return {
    applications,
    tokens,
    absences: [],
    pinged: new Map(applications.map(({ application_id }) => [application_id, new Set()])),
    received,
    [Symbol.asyncDispose]: () => receiver.close(),
  };
};
