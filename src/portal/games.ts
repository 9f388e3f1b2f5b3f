/** `/portal/games` and `/portal/game`: where a game is, and why. */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { countGamesOf } from '#db/queries/console.ts';
import {
  countWithdrawnGames,
  listPortalGames,
  listWithdrawnGames,
  type PortalGame,
  type WithdrawnGame,
} from '#db/queries/portal.ts';
import { identifier } from '#src/contract/text.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';
import { nameOr } from '#src/lib/printable.ts';
import { holderOf, sendPortal } from '#src/portal/session.ts';
import { forApplication, readTimeline } from '#src/review/timeline.ts';
import {
  ago,
  badge,
  type Column,
  clock,
  FILTERS,
  facts,
  gameName,
  html,
  link,
  mono,
  number,
  pager,
  type SafeHtml,
  section,
  statusBadges,
  table,
} from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalId, optionalWord } from '#src/site/query.ts';
import { timelineCard } from '#src/site/timeline.ts';

const PAGE = 50;
/** Withdrawn games that the tab counts. */
const COUNTED_MAX = 1_000;
const TABS = [...AUDIT_STATUSES, 'withdrawn'] as const;
const query = z.object({ status: optionalWord(TABS), before: optionalId });
/** An id is taken as it is sent: spaces may be a part of it. */
const gameQuery = z.object({ id: identifier.optional().catch(undefined) });

/** The page of a game. The id is a parameter: as a part of the path, "." and ".." would disappear. */
export const gameUrl = (application_game_id: string): string =>
  link('/portal/game', { id: application_game_id });

const rejection = ({ reason_label, text }: PortalGame): SafeHtml =>
  html`${reason_label ?? 'No reason given.'}${text === null ? null : html`<br><span dir="auto">${text}</span>`}`;

type Named = Pick<PortalGame, 'application_game_id' | 'game_name'>;
const gameColumn = {
  head: 'Game',
  fit: 'words' as const,
  cell: ({ application_game_id, game_name }: Named) =>
    html`<a href="${gameUrl(application_game_id)}"><span dir="auto">${gameName(game_name)}</span></a><br><small class="mono">${application_game_id}</small>`,
};

const columnsOf = (status: AuditStatus): Column<PortalGame>[] => [
  gameColumn,
  ...(status === 'rejected' ? [{ head: 'Why', cell: rejection }] : []),
  { head: 'Revision', minWidth: 900, numeric: true, cell: (game) => game.revision },
  status === 'pending'
    ? { head: 'Changed', minWidth: 640, cell: (game) => ago(game.updated_at) }
    : { head: 'Decided', minWidth: 640, cell: (game) => ago(game.audit_time) },
];

const WITHDRAWN_COLUMNS: Column<WithdrawnGame>[] = [
  gameColumn,
  {
    head: 'Why',
    cell: ({ unlisted_at }) =>
      unlisted_at === null
        ? 'Your list no longer names it.'
        : html`Your list no longer names it: first missed ${clock(unlisted_at)}, and again when it was withdrawn.`,
  },
  { head: 'Withdrawn', fit: 'short', cell: (game) => ago(game.withdrawn_at) },
  { head: 'Was', minWidth: 640, cell: (game) => badge(game.audit_status) },
];

/** The table of one tab. */
const gamesSection = async (
  sql: Database,
  application_id: string,
  status: (typeof TABS)[number],
  before: string | undefined,
): Promise<{ body: SafeHtml; next: string | undefined }> => {
  const page = { before, limit: PAGE + 1 };
  const show = <Row extends Named & { game_id: string }>(
    found: readonly Row[],
    columns: readonly Column<Row>[],
    note: SafeHtml | null = null,
  ) => {
    const options = { empty: `None of your games is ${status}.`, label: 'Games' };
    const body = html`${table(found.slice(0, PAGE), columns, options)}${note}`;
    const next = found.length > PAGE ? found[PAGE - 1]?.game_id : undefined;
    return { body: section(`Games that are ${status}`, body), next };
  };
  if (status !== 'withdrawn')
    return show(await listPortalGames(sql, application_id, { status, ...page }), columnsOf(status));
  const note = html`<p class="body soft">A game comes back when your list names it again, with the status that it had unless it changed.</p>`;
  return show(await listWithdrawnGames(sql, application_id, page), WITHDRAWN_COLUMNS, note);
};

/** The form that finds a game by its id, stored or not. */
export const findForm = (id = ''): SafeHtml =>
  html`<form method="get" action="/portal/game" ${FILTERS} role="search"><label class="field grow"><span>Your game_id</span><input type="search" name="id" value="${id}" required></label><button class="button">Where is it?</button></form>`;

/** Adds `/portal/games` and `/portal/game`. */
export const addPortalGames = (portal: FastifyInstance, { sql }: ConsoleOptions): void => {
  portal.get('/portal/games', { config: { right: 'application' } }, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { status = 'pending', before } = query.parse(request.query);
    const [games, counts, withdrawn] = await Promise.all([
      gamesSection(sql, application_id, status, before),
      countGamesOf(sql, application_id),
      countWithdrawnGames(sql, application_id, COUNTED_MAX + 1),
    ]);
    const countOf = (tab: (typeof TABS)[number]): string =>
      tab !== 'withdrawn'
        ? number(counts[tab])
        : withdrawn > COUNTED_MAX
          ? `${number(COUNTED_MAX)}+`
          : number(withdrawn);
    const tabs = html`<nav class="tabs" aria-label="Status">${TABS.map(
      (each) =>
        html`<a href="${link('/portal/games', { status: each })}"${each === status ? html` aria-current="page"` : null}>${each} <span class="badge">${countOf(each)}</span></a>`,
    )}</nav>`;
    const body = html`${findForm()}${tabs}${games.body}
${pager([
  ['First', before === undefined ? null : link('/portal/games', { status })],
  ['Next', games.next === undefined ? null : link('/portal/games', { status, before: games.next })],
])}`;
    return sendPortal(reply, {
      title: 'Games',
      at: '/portal/games',
      body,
      lead: 'What became of your games. A game that is in no tab was never stored: find it by its id.',
    });
  });

  portal.get('/portal/game', { config: { right: 'application' } }, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { id } = gameQuery.parse(request.query);
    if (id === undefined) return reply.redirect('/portal/games', 303);
    const timeline = forApplication(await readTimeline(sql, application_id, id));
    const { game } = timeline;
    const gameSection =
      game === null
        ? null
        : section(
            'Game',
            facts([
              ['Status', statusBadges(game)],
              ['Decided', game.audit_time === null ? null : ago(game.audit_time)],
              ['Revision', game.revision],
              ['Fetched', ago(game.fetched_at)],
              ['Platform game_id', mono(game.game_id)],
              ['Package URL', game.game_package_url === '' ? null : mono(game.game_package_url)],
            ]),
          );
    return sendPortal(reply, {
      title: nameOr(game?.game_name.trim() ?? '', id),
      at: '/portal/games',
      parent: ['Games', '/portal/games'],
      lead: mono(id),
      body: html`${findForm(id)}${timelineCard(timeline)}${gameSection}`,
    });
  });
};
