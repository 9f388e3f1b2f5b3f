/** `/portal/game`: why one game is live or not, and its pull on request. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { findApplication } from '#db/queries/applications.ts';
import { findDecidedRevision, findRevision, type GameRevisionRow, type GameRow } from '#db/queries/games.ts';
import { findHold, findPassObstacle } from '#db/queries/holds.ts';
import { findIcons } from '#db/queries/pictures.ts';
import { hasWaitingGames, WHOLE_LIST } from '#db/queries/refreshes.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { findSuspectEndOf } from '#db/queries/vanishing-games.ts';
import { identifier, URL_MAX } from '#src/contract/text.ts';
import { languageOf } from '#src/lib/languages.ts';
import { nameOr } from '#src/lib/printable.ts';
import { readFirst } from '#src/lists/read.ts';
import { runList } from '#src/lists/runs.ts';
import type { Caller } from '#src/operations/operation.ts';
import { refreshGames } from '#src/operations/refresh-games.ts';
import { answerBanner, answerTone } from '#src/portal/answer.ts';
import { latestRead, refusedBanner } from '#src/portal/latest-read.ts';
import { gameUrl } from '#src/portal/links.ts';
import { breakable, iconOf, picturesSection } from '#src/portal/pictures.ts';
import { describeSchedule, pausedBanner } from '#src/portal/schedule.ts';
import { callerOfHolder, findForm, holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { unnamedBanner } from '#src/portal/suspect.ts';
import { messageBanner, portalThread, threadBadges } from '#src/portal/thread.ts';
import { isUnknownGame, unknownCard, unknownLead } from '#src/portal/unknown-game.ts';
import { answerPoll, isPullWaiting, waitingBanner } from '#src/portal/waiting.ts';
import { describeChanges } from '#src/review/lane-changes.ts';
import { forApplication, readTimeline, type Timeline } from '#src/review/timeline.ts';
import { CONTENT, CONTENT_COLUMNS } from '#src/rules/mapping.ts';
import { redirectWith } from '#src/site/answers.ts';
import { ago, badge, copyableId, facts, html, mono, number, type SafeHtml, section } from '#src/site/html.ts';
import type { Notice } from '#src/site/layout.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { isPolling } from '#src/site/site.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { timelineCard } from '#src/site/timeline.ts';

/** An id is taken as it is sent, because spaces may be a part of it. */
const gameQuery = z.object({ id: identifier.optional().catch(undefined) });

/** A game that is not live has none that matters. */
const packageFact = ({ audit_status, withdrawn_at, game_package_url: url }: GameRow) => {
  if (url !== '') return [['Package URL', mono(url)] as const];
  return audit_status === 'passed' && withdrawn_at === null
    ? [['Package URL', 'none set: the game is live without it'] as const]
    : [];
};

const gameSection = (game: GameRow, schedule: SafeHtml | null): SafeHtml => {
  const known = facts([
    ...(game.audit_time === null ? [] : [['Decided', ago(game.audit_time)] as const]),
    ['Revision', game.revision],
    ['Fetched', ago(game.fetched_at)],
    ['Platform id', copyableId(game.game_id)],
    ...packageFact(game),
  ]);
  return section('Game', html`${known}${schedule && html`<p class="body soft">${schedule}</p>`}`);
};

const FOUND_LATER = 'A new game_id is found once the platform reads your list again.';

/** A text of a few paragraphs is read whole. */
const FOLDED_LENGTH = 1_000;
/** What is shown of a text that is folded. */
const BEGUN_LENGTH = 600;

const textCell = (text: string): SafeHtml | null => {
  if (text === '') return null;
  if (text.length <= URL_MAX && /^https?:\/\/\S+$/.test(text)) return html`${breakable(text)}`;
  const shown = html`<p class="prose" dir="auto" lang="${languageOf(text)}">${text}</p>`;
  if (text.length <= FOLDED_LENGTH) return shown;
  const begun = html`<span class="begun" dir="auto">${text.slice(0, BEGUN_LENGTH).toWellFormed()}…</span>`;
  return html`<details><summary>${begun} <span>All ${number(text.length)} characters</span></summary>${shown}</details>`;
};

/** Shows the texts that reviewers read, by the names of the developer's responses. */
const textsSection = (revision: GameRevisionRow): SafeHtml =>
  section(
    'Texts as the platform has them',
    facts(
      CONTENT_COLUMNS.flatMap((column) => {
        const text = revision[column];
        return typeof text === 'string' ? [[CONTENT[column].from, textCell(text)] as const] : [];
      }),
    ),
    { id: 'texts' },
  );

/** What reviewers call changed, by the names of the developer's responses. */
const FIELDS: Readonly<Record<string, string>> = {
  name: 'game_name',
  icon: 'game_icon',
  pictures: 'game_store_pic',
  description: 'game_info',
  video: 'game_store_video',
};

/** Names the fields that changed since the decision before; none if its pictures alone have other bytes. */
const readChanges = async (sql: Database, { game_id, revision }: GameRow): Promise<string[]> => {
  const decided_revision = await findDecidedRevision(sql, game_id, revision);
  if (decided_revision === undefined) return [];
  const changes = (await describeChanges(sql, [{ game_id, decided_revision }])).get(game_id) ?? [];
  return changes.map((each) => FIELDS[each] ?? each);
};

/** A withdrawn game has no other status for its developer. */
const statusBadge = ({ game, answer }: Timeline): SafeHtml => {
  if (game === null) return badge('not stored', answerTone(answer));
  return game.withdrawn_at === null ? badge(game.audit_status) : badge('withdrawn', 'warn');
};

/** Requests a game as its developer's server does by `game/refresh`; without an id, the whole list. @returns what became of it */
const requestPull = async (sql: Database, caller: Caller, id: string | undefined): Promise<Notice> => {
  const application_id = caller.actor.actor;
  const [application, game] = await Promise.all([
    findApplication(sql, application_id),
    id === undefined ? undefined : findApplicationGame(sql, application_id, id),
  ]);
  if (application?.status !== 'active')
    return {
      tone: 'bad',
      text: 'The platform has paused your application: it pulls nothing until it resumes.',
    };
  // A repeated request would move the one that waits to the end.
  if (
    await hasWaitingGames(sql, application_id, [game === undefined ? WHOLE_LIST : game.application_game_id])
  )
    return { tone: 'info', text: 'It is requested already.' };
  if ((await refreshGames(sql, caller, id === undefined ? [] : [id])) === undefined)
    return { tone: 'bad', text: 'Too many of your requests wait: retry when some of them are done.' };
  if (id === undefined)
    return { tone: 'good', text: 'Your list is read within a minute, with every detail.' };
  const text =
    game === undefined
      ? 'The game is not stored, so your list is read now.'
      : 'The game is pulled within seconds.';
  return { tone: 'good', text };
};

/** Adds `/portal/game`. */
export const addPortalGame = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql, contact } = options;
  portal.get('/portal/game', SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { id } = gameQuery.parse(request.query);
    if (id === undefined) return reply.redirect('/portal/games', 303);
    const [read, application] = await Promise.all([
      readTimeline(sql, application_id, id, { name: 'your application' }),
      findApplication(sql, application_id),
    ]);
    const timeline = forApplication(read);
    const { game, waiting, entries } = timeline;
    const thread = game && (await portalThread(sourcesOf(options), game));
    const isPaused = application?.status === 'paused';
    const isUnknown = game === null && isUnknownGame(timeline.answer);
    const paused = isUnknown ? pausedBanner(application, FOUND_LATER) : pausedBanner(application);
    const [run] = game === null ? await readFirst(runList, sourcesOf(options), { application_id }, 1) : [];
    const isPulling = !isPaused && (await isPullWaiting(sql, application_id, game, run));
    if (isPolling(request)) return answerPoll(reply, isPulling);
    const pulling = isPulling ? waitingBanner(game === null ? 'list' : 'game', gameUrl(id)) : null;
    const isFailing = application?.failing_since != null || run?.outcome === 'failed';
    const schedule = application === undefined || isPaused ? null : describeSchedule(application);
    const revision = game && (await findRevision(sql, game.game_id, game.revision));
    const pictures = game && (await picturesSection({ sql }, game));
    const happened = entries.length === 0 ? null : timelineCard(timeline, null, true);
    const body =
      game === null
        ? happened
        : html`<div class="split"><div>${happened}${thread?.shown}${pictures?.shown}</div>
<div class="stick">${revision && textsSection(revision)}${gameSection(game, schedule)}</div></div>`;
    const around = {
      appeals: thread,
      changes: game !== null && waiting?.lane === 'changed' ? await readChanges(sql, game) : [],
      isPaused,
      isPulling,
      read: latestRead(timeline, revision?.fetched_at),
      needsVerdict: (await findPassObstacle(sql, application_id)) === 'needs_verdict',
      hold: waiting?.is_held ? await findHold(sql, application_id) : undefined,
      contact,
      pictures: pictures?.count ?? null,
    };
    const refused = refusedBanner(timeline, around);
    const asked = thread && messageBanner(thread, refused === null && timeline.rejection === null);
    const unnamed = game && unnamedBanner(await findSuspectEndOf(sql, game), { isPaused, contact });
    const unknown = isUnknown ? unknownCard(id, timeline.answer, { isPaused, isPulling, isFailing }) : null;
    const answer = game === null ? unknown : answerBanner(timeline, around);
    const title = nameOr(game?.game_name.trim() ?? '', id);
    return sendPortal(reply, {
      title,
      ...(game === null && { heading: isUnknown ? 'No game found' : mono(id) }),
      ...(game === null && { actions: findForm(id) }),
      at: '/portal/games',
      parent: ['Games', '/portal/games'],
      ...(game && { mark: iconOf(game, await findIcons(sql, [game]), 'large') }),
      lead: isUnknown
        ? unknownLead(id)
        : html`${statusBadge(timeline)}${thread && threadBadges(thread)} ${title === id ? null : mono(id)}`,
      body: html`${paused}${pulling}${refused}${unnamed}${asked}${answer}${body}`,
    });
  });

  portal.post('/portal/game', SIGNED_IN, async (request, reply) => {
    const { id } = z.object({ id: identifier.optional() }).parse(request.body);
    const { tone, text } = await requestPull(sql, callerOfHolder(request), id);
    return redirectWith(reply, id === undefined ? '/portal/runs' : gameUrl(id), text, tone);
  });
};
