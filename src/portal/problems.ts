/** What the developer of an application should fix, the most urgent first. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import type { FailureGroup } from '#db/queries/failure-list.ts';
import type { RejectionCount } from '#db/queries/reasons.ts';
import type { UnansweredMessage } from '#db/queries/threads.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { banner, linkButton, type Step, withSecond } from '#src/portal/answer.ts';
import { appealBadge, refusedBadge } from '#src/portal/game-badges.ts';
import { gameUrl, idLink, threadUrl } from '#src/portal/links.ts';
import { rowsOf, UNNAMED_REASONS_MAX } from '#src/rules/listing.ts';
import { firstBrokenRules } from '#src/site/check-report.ts';
import { describeAddress, mayMendAddress } from '#src/site/event-cells.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import {
  ago,
  gameName,
  html,
  nameInText,
  number,
  type SafeHtml,
  section,
  type Tone,
} from '#src/site/html.ts';

/**
 * A problem, with a link to the page on which the developer can solve it, if there is one. `isSaid`: that page says no more.
 * `also`: a button of a problem that leads.
 */
export type Problem = {
  title: string;
  body: SafeHtml;
  tone: Tone;
  step: Step | null;
  isSaid?: boolean;
  also?: SafeHtml | undefined;
};

const quote = (text: string | null): SafeHtml | null =>
  text?.trim() ? html`<blockquote dir="auto">${text}</blockquote>` : null;

/** @param isShared its note is that of all games of the reason */
const namedGame = (
  { application_game_id, game_name, appeal, text }: RejectionCount['named'][number],
  isShared: boolean,
  refused: ReadonlySet<string>,
): SafeHtml => {
  const name = html`<a href="${gameUrl(application_game_id)}" dir="auto">${gameName(game_name)}</a>`;
  const badges = html`${appealBadge(appeal)}${refusedBadge(refused.has(application_game_id))}`;
  return html`<span>${name}${badges}</span>${isShared ? null : quote(text)}`;
};

/** Does each game of a reason wait for its appeal? Those that do are named last. */
const isAppealed = ({ named }: RejectionCount): boolean => named.every(({ appeal }) => appeal === 'open');

/** A game whose appeal waits needs nothing from its developer. */
const byNeed = (rejections: readonly RejectionCount[]): RejectionCount[] =>
  rejections.toSorted((one, other) => Number(isAppealed(one)) - Number(isAppealed(other)));

const reasonOf = ({ label }: RejectionCount): SafeHtml =>
  html`<strong dir="auto">${label ?? 'no reason given'}</strong>`;

const rejection = (count: RejectionCount, refused: ReadonlySet<string>): SafeHtml => {
  const { games, text, named } = count;
  const isShared = games > 1 && text !== null;
  const more = games - named.length;
  const names = named.map((each) => namedGame(each, isShared, refused));
  return html`<li>
${reasonOf(count)}: ${games === 1 ? null : `${number(games)} games`}${names}
${more === 0 ? null : html`<p class="soft">and ${number(more)} more</p>`}
${isShared ? html`<p class="soft">The note of all of them:</p>${quote(text)}` : null}</li>`;
};

/** The rejection of the one game that the title names. */
const onlyRejection = (count: RejectionCount, refused: ReadonlySet<string>): SafeHtml => {
  const badges = html`${appealBadge(count.named[0]?.appeal ?? null)}${refusedBadge(refused.size > 0)}`;
  return html`<li><span>${reasonOf(count)}${badges}</span>${quote(count.text)}</li>`;
};

/** Says how many checks found a rule that does not hold. */
export const countBroken = (failed: number): string =>
  failed === 1 ? 'A check of your webhooks failed' : `${number(failed)} checks of your webhooks failed`;

/** The games that a reviewer has rejected. @param refused those of which the latest data is not stored */
export const rejectedProblem = (
  rejections: readonly RejectionCount[],
  refused: ReadonlySet<string>,
  isPaused: boolean,
): Problem[] => {
  const games = rejections.reduce((sum, each) => sum + each.games, 0);
  if (games === 0) return [];
  const shown = games === 1 ? onlyRejection : rejection;
  const again = isPaused ? ' and the platform reads them again' : '';
  const only = games === 1 ? rejections[0]?.named[0] : undefined;
  return [
    {
      title:
        only === undefined
          ? `${number(games)} games were rejected`
          : `${nameInText(only.game_name)} was rejected`,
      body: html`<ul class="reasons-of">${byNeed(rejections).map((each) => shown(each, refused))}</ul>
<p class="soft">A game returns to review when its content changes in your answers${again}.</p>`,
      tone: 'bad',
      step:
        only === undefined
          ? { url: '/portal/games?status=rejected', act: 'All rejected games' }
          : { url: gameUrl(only.application_game_id), act: 'Open the game' },
      isSaid: only === undefined && rejections.every(({ games, named }) => games === named.length),
    },
  ];
};

export const MESSAGE_TITLE = 'A reviewer wrote to you';

/** Of the messages that wait. */
export const MESSAGES_SHOWN = 3;

const message = ({ application_game_id, game_name, text }: UnansweredMessage): SafeHtml => html`<li>
<span><a href="${threadUrl(application_game_id)}" dir="auto">${gameName(game_name)}</a></span>${quote(text)}</li>`;

/** Messages of reviewers that the developer has not answered, the latest first. */
export const messageProblem = (messages: readonly UnansweredMessage[]): Problem[] => {
  const [latest] = messages;
  if (latest === undefined) return [];
  const isOne = latest.messages === 1;
  const others = latest.messages - messages.length;
  return [
    {
      title: isOne ? MESSAGE_TITLE : `${number(latest.messages)} messages wait for your answer`,
      body: html`<ul class="reasons-of">${messages.map(message)}</ul>${
        others === 0
          ? null
          : html`<p class="soft">The badge "message" marks ${number(others)} more in your games.</p>`
      }`,
      tone: 'warn',
      step: { url: threadUrl(latest.application_game_id), act: isOne ? 'Answer' : 'Answer the latest' },
    },
  ];
};

/** A row of a list without a game_id is no game. */
const isRow = ({ operation, example }: FailureGroup): boolean =>
  operation === 'query_game_list' && example === NO_GAME;

/** The rows of the list that name no game are one failure. */
const sizeOf = (group: FailureGroup): number => (isRow(group) ? rowsOf(group.reasons).length : group.games);

const inUnits = (groups: readonly FailureGroup[]): string => {
  const all = groups.reduce((sum, group) => sum + sizeOf(group), 0);
  return `${number(all)} ${groups.every(isRow) ? 'row' : 'game'}${all === 1 ? '' : 's'}`;
};

/** How many games, with one of them. */
const describeExtent = (group: FailureGroup): SafeHtml | string => {
  const { games, example } = group;
  const extent = inUnits([group]);
  if (example === NO_GAME) return extent;
  return html`${extent}${games === 1 ? ':' : ', for example'} ${idLink(example)}`;
};

/** Most causes of failures that are read, and shown. */
export const CAUSES_READ = 100;
const CAUSES_SHOWN = 3;

const countUnstored = (groups: readonly FailureGroup[]): string => {
  const isCut = (group: FailureGroup): boolean => isRow(group) && group.reasons.length >= UNNAMED_REASONS_MAX;
  const isMore = groups.length >= CAUSES_READ || groups.some(isCut);
  if (groups.every(isRow)) return `${isMore ? 'At least ' : ''}${inUnits(groups)} could not be stored`;
  // Of a game that is stored, it is the latest data.
  return `Data of ${isMore ? 'at least ' : ''}${inUnits(groups)} could not be stored`;
};

/** Does a failure concern games, and not the KYC record? */
export const isOfGames = ({ operation }: FailureGroup): boolean => operation !== 'query_cp_kyc';

/** What could not be stored, by cause. @param groups at most `CAUSES_READ` */
export const failureProblem = (groups: readonly FailureGroup[]): Problem[] => {
  if (groups.length === 0) return [];
  const extentOf = (group: FailureGroup): SafeHtml | null =>
    groups.length === 1 && group.example === NO_GAME
      ? null
      : html`<br><small>${describeExtent(group)}</small>`;
  const causes = groups
    .slice(0, CAUSES_SHOWN)
    .map((group) => html`<li>${explainFailure(group)}${extentOf(group)}</li>`);
  const body = html`<ul class="reasons-of">${causes}</ul>`;
  const ofGames = groups.filter(isOfGames);
  const title = ofGames.length === 0 ? 'Your KYC record could not be stored' : countUnstored(ofGames);
  return [{ title, body, tone: 'warn', step: { url: '/portal/runs', act: 'All failures' } }];
};

/** Rules that did not hold at the last check. */
export const checkProblem = (check: CheckRow | undefined): Problem[] =>
  check === undefined || check.failed === 0
    ? []
    : [
        {
          title: countBroken(check.failed),
          body: html`<ul class="reasons-of">${firstBrokenRules(check)}</ul>
<p class="soft">Checked ${ago(check.finished_at)}</p>`,
          tone: 'bad',
          step: { url: '/portal/checks', act: 'Read the report' },
        },
      ];

/** Events that do not arrive, if their developer can mend it. */
export const eventProblem = (webhook: EventWebhook | undefined): Problem[] => {
  if (webhook === undefined || !mayMendAddress(webhook)) return [];
  const isOff = webhook.status === 'off';
  return [
    {
      title: isOff ? 'Events are switched off' : 'Events do not arrive',
      body: html`<p>${describeAddress(webhook)}</p>`,
      tone: isOff ? 'bad' : 'warn',
      step: { url: '/portal/events', act: 'See the deliveries' },
    },
  ];
};

/** The button of the next step of a problem that leads, with what else its developer may do. */
const actsOf = ({ step, isSaid, also }: Problem): SafeHtml | null =>
  step === null ? (also ?? null) : withSecond(linkButton(step, isSaid ? '' : ' primary'), also);

/** A problem that leads. */
export const problemBanner = (problem: Problem): SafeHtml =>
  banner(problem.title, problem.body, problem.tone, actsOf(problem));

/** The first problem leads: its button is the next step. The others are rows below it. What is red stands before what is not. */
export const problemCards = (problems: readonly Problem[]): SafeHtml | null => {
  const [first, ...others] = problems.toSorted(
    (one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'),
  );
  if (first === undefined) return null;
  const rows = others.map(
    (each) => html`<li><div><h3><span class="dot ${each.tone}"></span>${each.title}</h3>${each.body}</div>
${each.step && linkButton(each.step)}</li>`,
  );
  const more = rows.length === 0 ? null : section(undefined, html`<ul class="problems">${rows}</ul>`);
  return html`${problemBanner(first)}${more}`;
};
