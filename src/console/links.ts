import { link } from '#src/site/html.ts';
import type { LinkTo } from '#src/site/list-table.ts';

const PAGES = { application: '/applications', game: '/games', run: '/runs' } as const;

/** The console's pages of subjects. */
export const linkTo: LinkTo = (subject) => {
  if (subject.to !== 'application_game') return `${PAGES[subject.to]}/${encodeURIComponent(subject.id)}`;
  const { application_id, application_game_id, game_id } = subject;
  if (game_id !== undefined) return `/games/${game_id}`;
  return link('/games', { application: application_id, q: application_game_id });
};
