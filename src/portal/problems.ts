/** What the developer of an application should fix, the most urgent first. */
import type { CheckRow } from '#db/queries/application-checks.ts';
import type { EventWebhook } from '#db/queries/event-webhooks.ts';
import type { FailureGroup } from '#db/queries/failure-list.ts';
import { GIVEN_UP_COUNTED } from '#db/queries/navigation-counts.ts';
import type { UnansweredMessage } from '#db/queries/threads.ts';
import { isUnanswered } from '#src/contract/failure-words.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { banner, linkButton, type Step, withSecond } from '#src/portal/answer.ts';
import { idLink, threadUrl } from '#src/portal/links.ts';
import { rowsOf, UNNAMED_REASONS_MAX } from '#src/rules/listing.ts';
import { firstBrokenRules } from '#src/site/check-report.ts';
import { testButton } from '#src/site/event-address.ts';
import { describeAddress, mayMendAddress } from '#src/site/event-cells.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import {
  action,
  ago,
  gameName,
  html,
  number,
  numberUpTo,
  type SafeHtml,
  section,
  type Tone,
} from '#src/site/html.ts';

/**
 * A problem, with a link to the page on which the developer can solve it, if there is one. `also`: another button, if the
 * problem leads. `isSecond`: the link does not lead.
 */
export type Problem = {
  title: string;
  body: SafeHtml;
  tone: Tone;
  step: Step | null;
  isSecond?: boolean;
  also?: SafeHtml | undefined;
};

export const quote = (text: string | null): SafeHtml | null =>
  text?.trim() ? html`<blockquote dir="auto">${text}</blockquote>` : null;

/** Says how many checks found a rule that does not hold. */
export const countBroken = (failed: number): string =>
  failed === 1 ? 'A check of your webhooks failed' : `${number(failed)} checks of your webhooks failed`;

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
const sizeOf = (group: FailureGroup): number =>
  isRow(group) ? Math.max(1, rowsOf(group.reasons).length) : group.games;

const units = (groups: readonly FailureGroup[], unit: string): string[] => {
  const all = groups.reduce((sum, group) => sum + sizeOf(group), 0);
  return all === 0 ? [] : [`${number(all)} ${unit}${all === 1 ? '' : 's'}`];
};

const inUnits = (groups: readonly FailureGroup[]): string =>
  [
    ...units(
      groups.filter((group) => !isRow(group)),
      'game',
    ),
    ...units(groups.filter(isRow), 'row'),
  ].join(' and ');

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

/** What could not be done. */
const readOrStored = (groups: readonly FailureGroup[]): string =>
  groups.every(isUnanswered) ? 'read' : 'stored';

const countUnstored = (groups: readonly FailureGroup[]): string => {
  const isCut = (group: FailureGroup): boolean => isRow(group) && group.reasons.length >= UNNAMED_REASONS_MAX;
  const isMore = groups.length >= CAUSES_READ || groups.some(isCut);
  if (groups.every(isRow)) return `${isMore ? 'At least ' : ''}${inUnits(groups)} could not be stored`;
  // Of a game that is stored, it is the latest data.
  return `Data of ${isMore ? 'at least ' : ''}${inUnits(groups)} could not be ${readOrStored(groups)}`;
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
  const title =
    ofGames.length === 0 ? `Your KYC record could not be ${readOrStored(groups)}` : countUnstored(ofGames);
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

/** Says how many events the platform has given up. @param given_up at most one more than `GIVEN_UP_COUNTED` */
const givenUpTitle = (given_up: number): string =>
  given_up === 1
    ? '1 event did not arrive'
    : `${numberUpTo(GIVEN_UP_COUNTED, given_up)} events did not arrive`;

const GIVEN_UP = html`<p>The platform has given up after its last attempt: it sends them again only if you ask.</p>`;

/** Where the events of a developer and the forms of their address are posted. */
export const EVENTS = '/portal/events';
export const EVENT_ADDRESS = '/portal/events/address';

const TO_SWITCH_ON =
  'Correct your server, then send a test: it switches the address on again. Then send the missed events again.';
const TO_FIX =
  'Correct your server, then send a test. Events that wait follow at their next attempts, or now if you send them again.';

const givenUpProblem = (given_up: number): Problem => ({
  title: givenUpTitle(given_up),
  body: GIVEN_UP,
  tone: 'warn',
  step: { url: `${EVENTS}?state=failed`, act: 'See them' },
  isSecond: true,
  also: action(EVENTS, 'Send them again', { kind: 'primary' }),
});

/** Events that do not arrive, if their developer can mend it, or that did not, with the button that tries it again. */
export const eventProblem = (webhook: EventWebhook | undefined, given_up: number): Problem[] => {
  if (webhook === undefined) return [];
  if (!mayMendAddress(webhook)) return given_up === 0 ? [] : [givenUpProblem(given_up)];
  const isOff = webhook.status === 'off';
  return [
    {
      title: isOff ? 'Events are switched off' : 'Events do not arrive',
      body: html`<p>${describeAddress(webhook, isOff ? TO_SWITCH_ON : TO_FIX)}</p>`,
      tone: isOff ? 'bad' : 'warn',
      step: { url: EVENTS, act: 'See the deliveries' },
      isSecond: true,
      also: testButton(EVENT_ADDRESS, 'primary'),
    },
  ];
};

/** The button of the next step of a problem that leads, with what else its developer may do. */
const actsOf = ({ step, isSecond = false, also }: Problem): SafeHtml | null => {
  if (step === null) return also ?? null;
  const button = linkButton(step, isSecond ? '' : ' primary');
  return isSecond && also !== undefined ? withSecond(also, button) : withSecond(button, also);
};

/** A problem that leads. */
export const problemBanner = (problem: Problem): SafeHtml =>
  banner(problem.title, problem.body, problem.tone, actsOf(problem));

/** What is red stands first, then what the developer mends, then what waits for others. */
const BY_TONE: readonly Tone[] = ['bad', 'warn', 'info'];

/** The first problem leads: its button is the next step. The others are rows below it. */
export const problemCards = (problems: readonly Problem[]): SafeHtml | null => {
  const [first, ...others] = problems.toSorted(
    (one, other) => BY_TONE.indexOf(one.tone) - BY_TONE.indexOf(other.tone),
  );
  if (first === undefined) return null;
  const rows = others.map(
    (each) => html`<li><div><h3><span class="dot ${each.tone}"></span>${each.title}</h3>${each.body}</div>
${each.step && each.step.url !== first.step?.url ? linkButton(each.step) : null}</li>`,
  );
  const more = rows.length === 0 ? null : section(undefined, html`<ul class="problems">${rows}</ul>`);
  return html`${problemBanner(first)}${more}`;
};
