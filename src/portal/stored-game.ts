/** The page of a stored game: why it is live or not, what happened to it, and what the platform has of it. */
import type { Database } from '#db/client.ts';
import { findDecidedRevision, findRevision, type GameRevisionRow, type GameRow } from '#db/queries/games.ts';
import { findHold, findPassObstacle } from '#db/queries/holds.ts';
import { findIcons } from '#db/queries/pictures.ts';
import { findSuspectEndOf } from '#db/queries/vanishing-games.ts';
import { isUnanswered } from '#src/contract/failure-words.ts';
import { URL_MAX } from '#src/contract/text.ts';
import { languageOf } from '#src/lib/languages.ts';
import { nameOr } from '#src/lib/printable.ts';
import { answerBanner } from '#src/portal/answer.ts';
import { statusBadge } from '#src/portal/game-badges.ts';
import { latestRead, refusedBanner } from '#src/portal/latest-read.ts';
import { gameUrl } from '#src/portal/links.ts';
import { breakable, iconOf, picturesSection } from '#src/portal/pictures.ts';
import { pullingBanner, type Reading } from '#src/portal/reading.ts';
import { describeSchedule } from '#src/portal/schedule.ts';
import { holdBanner } from '#src/portal/standing.ts';
import { listBanner, unnamedBanner } from '#src/portal/suspect.ts';
import { messageBanner, portalThread, threadBadges } from '#src/portal/thread.ts';
import { unreadTitle } from '#src/portal/unread.ts';
import { describeChanges } from '#src/review/lane-changes.ts';
import type { Timeline } from '#src/review/timeline.ts';
import { CONTENT, CONTENT_COLUMNS } from '#src/rules/mapping.ts';
import { ago, copyableId, facts, html, mono, number, type SafeHtml, section } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';
import { timelineCard } from '#src/site/timeline.ts';

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

/** Shows a stored game. */
export const storedPage = async (
  options: ConsoleOptions,
  game: GameRow,
  timeline: Timeline,
  reading: Reading & { isPulling: boolean },
) => {
  const { sql, contact } = options;
  const { application, isPaused, isPulling } = reading;
  const { application_id, application_game_id: id, game_id } = game;
  const { waiting, rejection, entries, failure } = timeline;
  const thread = await portalThread(sourcesOf(options), game);
  const revision = await findRevision(sql, game_id, game.revision);
  const pictures = await picturesSection({ sql }, game);
  const hold = await findHold(sql, application_id);
  const refused = refusedBanner(timeline, reading, isPulling);
  const unnamed = unnamedBanner(await findSuspectEndOf(sql, game), reading, contact);
  const isHeld = waiting?.is_held === true;
  const answered = answerBanner(timeline, {
    appeals: thread,
    changes: waiting?.lane === 'changed' ? await readChanges(sql, game) : [],
    isPaused,
    isUnread: unreadTitle(reading) !== null,
    isPulling,
    isUnnamed: unnamed !== null,
    read: latestRead(timeline, revision?.fetched_at),
    needsVerdict: (await findPassObstacle(sql, application_id)) === 'needs_verdict',
    hold: isHeld ? hold : undefined,
    contact,
    pictures: pictures?.count ?? null,
  });
  const head = [
    // A hold stands first. A game that waits for its end says it itself.
    isHeld ? answered : null,
    rejection === null ? null : holdBanner(hold, contact),
    // The cards below describe a call that nothing answered, and what a suspect run says of this game.
    failure !== null && isUnanswered(failure) && !isPaused ? null : listBanner(reading, undefined),
    isPulling ? pullingBanner(gameUrl(id)) : null,
    refused,
    unnamed,
    messageBanner(thread, refused === null && rejection === null),
    isHeld ? null : answered,
  ];
  const happened = entries.length === 0 ? null : timelineCard(timeline, null, true);
  // The schedule names the button that pulls the game, which one that is held or unnamed lacks.
  const isPulled = application?.status === 'active' && !isHeld && unnamed === null;
  const title = nameOr(game.game_name.trim(), id);
  return {
    title,
    mark: iconOf(game, await findIcons(sql, [game]), 'large'),
    lead: html`${statusBadge(game)}${threadBadges(thread)} ${title === id ? null : mono(id)}`,
    body: html`${head}<div class="split"><div>${happened}${thread.shown}${pictures?.shown}</div>
<div class="stick">${revision && textsSection(revision)}${gameSection(game, isPulled ? describeSchedule(application) : null)}</div></div>`,
  };
};
