/** The portal: what an application's developer sees of that application, and of no other. */
import type { FastifyInstance } from 'fastify';
import type { ConsoleOptions } from '#src/console/options.ts';
import { addPortalGames } from '#src/console/portal/games.ts';
import { addPortalPages } from '#src/console/portal/overview.ts';
import { addPortalSession } from '#src/console/portal/session.ts';

/** Adds `/portal`. */
export const addPortal = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.decorateRequest('holder', null);
  addPortalSession(app, options);
  addPortalGames(app, options);
  addPortalPages(app, options);
};
