/** `/games`: search by name, by `game_id` (the platform's or the application's), by application and by status. */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { listApplicationNames } from '#db/queries/console.ts';
import { type GameItem, searchGames } from '#db/queries/game-search.ts';
import type { PictureSet } from '#db/queries/pictures.ts';
import { awaitIcons } from '#src/console/pages/icons.ts';
import { iconPlace } from '#src/console/pages/pictures.ts';
import { wantPictures } from '#src/console/want-pictures.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { NotFoundError } from '#src/errors.ts';
import { readTimeline } from '#src/review/timeline.ts';
import { sendPage } from '#src/site/answers.ts';
import {
  ago,
  applicationLink,
  type Column,
  FILTERS,
  gameName,
  html,
  link,
  mono,
  pager,
  type SafeHtml,
  select,
  statusBadges,
  tableSection,
} from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalExactText, optionalId, optionalText, optionalWord } from '#src/site/query.ts';
import { timelineCard } from '#src/site/timeline.ts';

const PAGE = 50;
/** Applications that the filter offers. For another one, put its id into the URL: `?application=`. */
const APPLICATIONS_MAX = 500;

const query = z.object({
  q: optionalExactText,
  status: optionalWord(AUDIT_STATUSES),
  application: optionalText,
  before: optionalId,
});

/** Options of a filter by application: value and label. The chosen application is always one of them. */
export const applicationChoices = async (
  sql: ConsoleOptions['sql'],
  chosen: string | undefined,
): Promise<(readonly [string, string])[]> => {
  const names = await listApplicationNames(sql, APPLICATIONS_MAX);
  const known = names.some(({ application_id }) => application_id === chosen);
  return [
    ['', 'every application'],
    ...(chosen === undefined || known ? [] : [[chosen, chosen] as const]),
    ...names.map(({ application_id, name }) => [application_id, name] as const),
  ];
};

const columns = (pictures: PictureSet): Column<GameItem>[] => [
  {
    head: 'Game',
    fit: 'names',
    cell: (row) =>
      html`<span class="titled">${iconPlace(row, pictures, 'tiny')}<a href="/games/${row.game_id}">${gameName(row.game_name)}</a></span>`,
  },
  { head: 'Status', cell: statusBadges },
  {
    head: 'Application',
    fit: 'names',
    minWidth: 640,
    cell: (row) => applicationLink(row.application_id, row.application_name),
  },
  {
    head: "Application's game_id",
    fit: 'words',
    minWidth: 900,
    cell: (row) => mono(row.application_game_id),
  },
  { head: 'Revision', minWidth: 1200, numeric: true, cell: (row) => row.revision },
  { head: 'Decided', minWidth: 900, cell: (row) => ago(row.audit_time) },
];

/** What happened to an id of an application that no game has, or none with the chosen status; null if nothing did. */
const findTimeline = async (
  sql: Database,
  application_id: string,
  application_game_id: string,
): Promise<SafeHtml | null> => {
  try {
    const timeline = await readTimeline(sql, application_id, application_game_id);
    return timeline.entries.length === 0 ? null : timelineCard(timeline);
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
};

/** Adds `/games`. */
export const addGames = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/games', { config: { right: 'view' } }, async (request, reply) => {
    const { q: typed = '', status, application, before } = query.parse(request.query);
    // White space alone is an id, of one application, or nothing.
    const q = typed.trim() === '' && application === undefined ? undefined : typed || undefined;
    const [{ games, next }, choices] = await Promise.all([
      searchGames(sql, {
        text: q?.trim() || q,
        id: q,
        status,
        application_id: application,
        before,
        limit: PAGE,
      }),
      applicationChoices(sql, application),
    ]);
    const pictures = await wantPictures(options, games);
    const filters = { q, status, application };
    const empty = Object.values(filters).every((value) => value === undefined)
      ? 'No game is stored yet: they come with the first run of an application.'
      : next === null
        ? 'No game matches. To find a withdrawn game, or why an id has no game, search for the id in its application.'
        : 'No match among the games that this page searched: search further back.';
    const timeline =
      games.length > 0 || next !== null || q === undefined || application === undefined
        ? null
        : ((await findTimeline(sql, application, q)) ?? (await findTimeline(sql, application, q.trim())));
    const list = tableSection('Games, newest first', games, columns(pictures), { empty, label: 'Games' });
    const body = html`<form method="get" ${FILTERS} role="search">
<label class="field grow"><span>Name or id</span><input type="search" name="q" value="${q ?? ''}"></label>
${select('status', 'Status', [['', 'every status'], ...AUDIT_STATUSES.map((each) => [each, each] as const)], status ?? '')}
${select('application', 'Application', choices, application ?? '')}
<button class="button">Search</button></form>
${timeline ?? list}${awaitIcons(games, pictures, 'tiny')}
${pager([
  ['Latest', before === undefined ? null : link('/games', filters)],
  [
    q === undefined ? 'Earlier' : 'Search further back',
    next === null ? null : link('/games', { ...filters, before: next }),
  ],
])}`;
    return sendPage(reply, { title: 'Games', at: '/games', body });
  });
};
