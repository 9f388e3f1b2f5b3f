import type { LinkTo } from '#src/site/list.ts';

const PAGES = { application: '/applications', game: '/games', run: '/runs' } as const;

/** The console's pages of subjects. */
export const linkTo: LinkTo = ({ to, id }) =>
  to in PAGES ? `${PAGES[to as keyof typeof PAGES]}/${encodeURIComponent(id)}` : null;
