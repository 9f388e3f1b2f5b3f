/** The developer portal: each page shows one application, that of the session. */
import type { FastifyInstance } from 'fastify';
import type { ConsoleOptions } from '#src/console/options.ts';
import { addPortalGames } from '#src/console/portal/games.ts';
import { addPortalOverview } from '#src/console/portal/overview.ts';
import { addPortalSession } from '#src/console/portal/session.ts';

/** Adds the routes of `/portal`. */
export const addPortal = (app: FastifyInstance, options: ConsoleOptions): void => {
  addPortalSession(app, options);
  addPortalOverview(app, options);
  addPortalGames(app, options);
};
