/** `/portal/games`: what became of the games of an application. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { findDecided } from '#db/queries/decisions.ts';
import { findRefused } from '#db/queries/failures.ts';
import { countGamesOf, countWithdrawnGames } from '#db/queries/game-counts.ts';
import type { GameItem, RejectedGame, WithdrawnGame } from '#db/queries/game-list.ts';
import { findHold } from '#db/queries/holds.ts';
import type { PortalCounts } from '#db/queries/navigation-counts.ts';
import { listUnanswered } from '#db/queries/threads.ts';
import { findSuspectEnd } from '#db/queries/vanishing-games.ts';
import { identifier } from '#src/contract/text.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { gameList, rejectedGameList, withdrawnGameList } from '#src/lists/games.ts';
import type { Sources } from '#src/lists/read.ts';
import { showFound } from '#src/portal/found-games.ts';
import { appealBadge, decidedBadge, refusedBadge } from '#src/portal/game-badges.ts';
import { nameCell, onPhone, WIDTHS, WIDTHS_BESIDE_WORDS } from '#src/portal/game-cells.ts';
import { gameUrl, linkTo } from '#src/portal/links.ts';
import { showNone } from '#src/portal/no-games.ts';
import { MESSAGES_SHOWN, messageProblem, problemBanner } from '#src/portal/problems.ts';
import { readReading } from '#src/portal/reading.ts';
import { findForm, holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { holdBanner } from '#src/portal/standing.ts';
import { listBanner } from '#src/portal/suspect.ts';
import { pausedBanner } from '#src/portal/unread.ts';
import { ago, clock, html, link, number, numberUpTo, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalWord } from '#src/site/query.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { tabs } from '#src/site/tabs.ts';

const PAGE = 50;
/** The count of withdrawn games stops above this. */
export const WITHDRAWN_COUNTED = 1_000;

const TABS = [...AUDIT_STATUSES, 'withdrawn'] as const;
type Tab = (typeof TABS)[number];
const BY_NEED: readonly Tab[] = ['rejected', 'pending', 'passed', 'withdrawn'];

/** The tab that is open at first: the first with work of the developer, as the menu counts it, or else with a game. */
const openAtFirst = ({ rejected, asked }: PortalCounts, games: Record<Tab, number>): Tab =>
  BY_NEED.find((tab) => (tab === 'rejected' && rejected > 0) || (tab !== 'withdrawn' && asked[tab])) ??
  BY_NEED.find((tab) => games[tab] > 0) ??
  'pending';

/** What of a tab the menu counts. */
const markOf = (tab: Tab, { rejected, asked }: PortalCounts): SafeHtml | null => {
  const messages = (tab !== 'withdrawn' && asked[tab]) || 0;
  const games = tab === 'rejected' ? rejected + messages : messages;
  const said = tab === 'rejected' ? 'to fix' : 'to answer';
  const tone = tab === 'rejected' && rejected > 0 ? 'bad' : 'warn';
  return games === 0 ? null : html`<span class="badge ${tone}">${number(games)} ${said}</span>`;
};

/** A search is in all statuses. */
const tabQuery = z.object({ status: optionalWord(TABS), q: identifier.optional().catch(undefined) });

const whyWithdrawn = ({ unlisted_at }: WithdrawnGame): SafeHtml | string =>
  unlisted_at === null
    ? 'Your list no longer names it.'
    : html`Your list no longer names it: first missed ${clock(unlisted_at)}, and again when it was withdrawn.`;

const COMES_BACK = html`<p class="body soft">A game comes back when your list names it again, with the status that it
had unless it changed.</p>`;

const PASSED_BEFORE = 'Games that were passed wait under Pending while they are held.';

/** What the tabs of `/portal/games` share. */
type TabView = { application_id: string; status: Tab; query: unknown; isHeld: boolean };
const viewOf = ({ application_id, status, query }: TabView) => ({
  path: '/portal/games',
  query,
  limit: PAGE,
  kept: { status },
  fixed: { application_id },
});
const shownOf = ({ status, isHeld }: TabView) => ({
  linkTo,
  label: 'Games',
  empty: isHeld && status === 'passed' ? PASSED_BEFORE : `None of your games is ${status}.`,
  widths: WIDTHS,
});

const showWithdrawn = async (sources: Sources, tab: TabView): Promise<SafeHtml> => {
  const { rows, body } = await showList(sources, withdrawnGameList, viewOf(tab));
  const note = ({ withdrawn_at, audit_status }: WithdrawnGame) =>
    html`<span class="to-640"><small>Withdrawn ${ago(withdrawn_at)}, was ${audit_status}</small></span>`;
  const shown = body({
    ...shownOf(tab),
    only: ['game_name', 'withdrawn', 'audit_status'],
    widths: { withdrawn: 'medium' },
    cells: { game_name: await nameCell(sources.sql, tab.application_id, rows, note) },
    more: [{ head: 'Why', cell: whyWithdrawn }],
  });
  return html`${shown}${rows.length === 0 ? null : COMES_BACK}`;
};

const showRejected = async (sources: Sources, tab: TabView): Promise<SafeHtml> => {
  const { rows, body } = await showList(sources, rejectedGameList, viewOf(tab));
  const refused = await findRefused(sources.sql, tab.application_id, rows);
  const note = ({ audit_time, appeal, application_game_id }: RejectedGame): SafeHtml =>
    html`${onPhone('Decided', audit_time)}${appealBadge(appeal)}${refusedBadge(
      refused.has(application_game_id),
    )}`;
  return body({
    ...shownOf(tab),
    widths: WIDTHS_BESIDE_WORDS,
    only: ['game_name', 'why', 'revision', 'decided', 'first_seen'],
    cells: { game_name: await nameCell(sources.sql, tab.application_id, rows, note) },
  });
};

/** What stands beside the name of a game that is pending or passed. */
const findNote = async (sql: Database, { application_id, status }: TabView, games: readonly GameItem[]) => {
  if (status === 'pending') {
    const decided = await findDecided(sql, games);
    return ({ game_id, updated_at }: GameItem) =>
      html`${onPhone('Changed', updated_at)}${decidedBadge(decided.get(game_id))}`;
  }
  const refused = await findRefused(sql, application_id, games);
  return ({ application_game_id, audit_time }: GameItem) =>
    html`${onPhone('Decided', audit_time)}${refusedBadge(refused.has(application_game_id))}`;
};

/** The games of one tab. */
const showTab = async (sources: Sources, tab: TabView): Promise<SafeHtml> => {
  const { application_id, status } = tab;
  if (status === 'withdrawn') return showWithdrawn(sources, tab);
  if (status === 'rejected') return showRejected(sources, tab);
  const fixed = { application_id, audit_status: status };
  const { rows, body } = await showList(sources, gameList, { ...viewOf(tab), order: '-first_seen', fixed });
  const note = await findNote(sources.sql, tab, rows);
  return body({
    ...shownOf(tab),
    only: ['game_name', 'revision', status === 'pending' ? 'changed' : 'decided', 'first_seen'],
    cells: { game_name: await nameCell(sources.sql, application_id, rows, note) },
  });
};

/** Adds `/portal/games`. */
export const addPortalGames = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  const sources = sourcesOf(options);
  portal.get('/portal/games', SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { status, q } = tabQuery.parse(request.query);
    const [reading, suspect, hold, counts, withdrawn] = await Promise.all([
      readReading(sources, application_id),
      findSuspectEnd(sql, application_id),
      findHold(sql, application_id),
      countGamesOf(sql, application_id),
      countWithdrawnGames(sql, application_id, WITHDRAWN_COUNTED + 1),
    ]);
    const isEmpty = withdrawn === 0 && AUDIT_STATUSES.every((each) => counts[each] === 0);
    const numbers: Record<Tab, number> = { ...counts, withdrawn };
    const work = await portal.countForDeveloper(request);
    const tab = status ?? openAtFirst(work, numbers);
    const shownTab = async () =>
      isEmpty
        ? showNone(sources, application_id, reading, suspect)
        : showTab(sources, { application_id, status: tab, query: request.query, isHeld: hold !== undefined });
    const games =
      q === undefined ? await shownTab() : await showFound(sources, application_id, request.query, PAGE);
    if (q !== undefined && games === undefined) return reply.redirect(gameUrl(q), 303);
    const statusTabs = TABS.map((each) => ({
      url: link('/portal/games', { status: each }),
      text: each,
      count: each === 'withdrawn' ? numberUpTo(WITHDRAWN_COUNTED, withdrawn) : number(counts[each]),
      mark: markOf(each, work),
      isOpen: q === undefined && each === tab,
    }));
    const asked =
      q === undefined && tab !== 'withdrawn' && work.asked[tab]
        ? messageProblem(await listUnanswered(sql, application_id, MESSAGES_SHOWN, tab)).map(problemBanner)
        : null;
    const trouble = isEmpty ? pausedBanner(reading.application) : listBanner(reading, suspect);
    return sendPortal(reply, {
      title: 'Games',
      at: '/portal/games',
      actions: findForm(q),
      body: html`${holdBanner(hold, options.contact)}${trouble}
${isEmpty ? null : tabs('Status', statusTabs)}${asked}${games}`,
      lead: isEmpty
        ? 'What became of your games.'
        : html`What became of your games. A game that is in no tab was <a href="/portal/runs">never stored</a>.`,
    });
  });
};
