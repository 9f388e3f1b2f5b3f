/** The KYC desk: the only web process with keys. One of its pages shows a record in clear (pages/reveal.ts). */
import type { FastifyInstance } from 'fastify';
import { listApprovals } from '#db/queries/approvals.ts';
import { countDevelopers } from '#db/queries/kyc-list.ts';
import { KYC_APPROVAL_KINDS } from '#src/contract/approvals.ts';
import type { DeskOptions } from '#src/kyc-desk/options.ts';
import { addActions } from '#src/kyc-desk/pages/actions.ts';
import { addDeveloper } from '#src/kyc-desk/pages/developer.ts';
import { addDevelopers } from '#src/kyc-desk/pages/developers.ts';
import { addRequests } from '#src/kyc-desk/pages/requests.ts';
import { addReveals } from '#src/kyc-desk/pages/reveals.ts';
import { describeSinglePersonActions } from '#src/operations/second-person.ts';
import { createCounter, keepFresh } from '#src/site/counter.ts';
import { html, number } from '#src/site/html.ts';
import type { Navigation, PlaceCounts } from '#src/site/layout.ts';
import { createSite } from '#src/site/site.ts';

const NAVIGATION: Navigation = [
  ['/', 'Developers', 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20a7 7 0 0 1 14 0', 'kyc'],
  ['/requests', 'Requests', 'M4 12l5 5L20 6', 'kyc'],
  ['/reveals', 'Reveals', 'M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6zM12 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4z', 'kyc'],
];

const REQUESTS_MAX = 500;

/** Developers that wait for a verdict, and requests that wait for a second person. */
const readCounts = async (sql: DeskOptions['sql']): Promise<PlaceCounts> => {
  const kinds = [...KYC_APPROVAL_KINDS, 'officer'] as const;
  const [{ waiting }, open] = await Promise.all([
    countDevelopers(sql),
    listApprovals(sql, { kinds, open: true, limit: REQUESTS_MAX }),
  ]);
  const requested = open.filter(({ state }) => state === 'requested').length;
  return {
    ...(waiting > 0 && { '/': number(waiting) }),
    ...(requested > 0 && { '/requests': number(requested) }),
  };
};

/** Builds the server of the desk; it does not listen yet. */
export const buildKycDesk = async (options: DeskOptions): Promise<FastifyInstance> => {
  const counter = createCounter<PlaceCounts>({}, () => readCounts(options.sql));
  const app = await createSite(options, {
    site: 'kyc_desk',
    name: 'KYC desk',
    lead: 'The KYC desk of the Game Catalogue.',
    navigation: NAVIGATION,
    warning: describeSinglePersonActions(options.fourEyes),
    wayOn: html`<p><a class="button" href="/">Developers</a></p>`,
    counts: counter.counts,
  });
  keepFresh(app, counter);
  addDevelopers(app, options);
  addDeveloper(app, options);
  addActions(app, options);
  addRequests(app, options);
  addReveals(app, options);
  await app.ready();
  return app;
};
