/** The KYC desk: the only web process with keys, and its only page that opens a record in clear. */
import type { FastifyInstance } from 'fastify';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { addActions } from '#src/kyc-desk/pages/actions.ts';
import { addDeveloper } from '#src/kyc-desk/pages/developer.ts';
import { addDevelopers } from '#src/kyc-desk/pages/developers.ts';
import { addRequests } from '#src/kyc-desk/pages/requests.ts';
import { addReveals } from '#src/kyc-desk/pages/reveals.ts';
import { describeSinglePersonActions } from '#src/operations/second-person.ts';
import type { Navigation } from '#src/site/layout.ts';
import { createSite } from '#src/site/site.ts';

const NAVIGATION: Navigation = [
  ['/', 'Developers', 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20a7 7 0 0 1 14 0', 'kyc'],
  ['/requests', 'Requests', 'M4 12l5 5L20 6', 'kyc'],
  ['/reveals', 'Reveals', 'M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6zM12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4z', 'kyc'],
];

/** Builds the server of the desk; it does not listen yet. */
export const buildKycDesk = async (options: DeskOptions): Promise<FastifyInstance> => {
  const app = await createSite(options, {
    site: 'kyc_desk',
    name: 'KYC desk',
    lead: 'The KYC desk of the Game Catalogue.',
    navigation: NAVIGATION,
    warning: describeSinglePersonActions(options.fourEyes),
  });
  addDevelopers(app, options);
  addDeveloper(app, options);
  addActions(app, options);
  addRequests(app, options);
  addReveals(app, options);
  await app.ready();
  return app;
};
