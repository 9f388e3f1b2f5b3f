/** The operators' web console, and the portal of applications' developers. */
import type { FastifyInstance } from 'fastify';
import { describeSinglePersonActions } from '#src/approvals/rule.ts';
import { NAVIGATION } from '#src/console/layout.ts';
import type { ConsoleOptions } from '#src/console/options.ts';
import { addPages } from '#src/console/pages/index.ts';
import { addPortal } from '#src/console/portal/index.ts';
import { addQueues } from '#src/console/queues.ts';
import { createSite } from '#src/console/site.ts';

/** Builds the server of the console; it does not listen yet. */
export const buildConsole = async (options: ConsoleOptions): Promise<FastifyInstance> => {
  const frame = {
    name: 'Game Catalogue',
    lead: 'The console of the Game Catalogue.',
    navigation: NAVIGATION,
    warning: describeSinglePersonActions(options.fourEyes),
  };
  const app = await createSite(options, frame);
  addPages(app, options);
  addPortal(app, options);
  await addQueues(app, options);
  await app.ready();
  return app;
};
