/** `/portal`. */

import type { FastifyInstance } from 'fastify';
import { readAddressLifetimeMs } from '#db/queries/addresses.ts';
import { type EventWebhook, findEventWebhook } from '#db/queries/event-webhooks.ts';
import { findRefused } from '#db/queries/failures.ts';
import { countGamesOf, countWithdrawnGames } from '#db/queries/game-counts.ts';
import { readMedianWaitMs } from '#db/queries/lane-counts.ts';
import { countRejections } from '#db/queries/reasons.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { listUnanswered } from '#db/queries/threads.ts';
import { findSuspectEnd } from '#db/queries/vanishing-games.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';
import { checkList } from '#src/lists/checks.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { readFirst } from '#src/lists/read.ts';
import { addressProblem } from '#src/portal/addresses.ts';
import { banner, readButton } from '#src/portal/answer.ts';
import { firstSteps } from '#src/portal/first-steps.ts';
import { WITHDRAWN_COUNTED } from '#src/portal/games.ts';
import {
  CAUSES_READ,
  checkProblem,
  eventProblem,
  failureProblem,
  MESSAGES_SHOWN,
  messageProblem,
  problemCards,
} from '#src/portal/problems.ts';
import { type Reading, readReading } from '#src/portal/reading.ts';
import { allWait, rejectedProblem } from '#src/portal/rejected.ts';
import { describePace, RUNNING_BADGE, showWhy, whyCell } from '#src/portal/schedule.ts';
import { holderOf, SIGNED_IN, sendPortal } from '#src/portal/session.ts';
import { readIdentity, standingProblem, standingSection } from '#src/portal/standing.ts';
import { suspectProblem } from '#src/portal/suspect.ts';
import { unreadProblem, unreadTitle } from '#src/portal/unread.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { addressBadge, describeAddress, mayMendAddress } from '#src/site/event-cells.ts';
import {
  ago,
  badge,
  due,
  facts,
  formatDuration,
  html,
  link,
  number,
  numberUpTo,
  type SafeHtml,
  section,
  stat,
} from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

/** @param note below the number */
const statusCard = (
  status: AuditStatus | 'withdrawn',
  games: string,
  { note, tone = '' }: { note?: string | undefined; tone?: string } = {},
): SafeHtml => stat(status, games, { url: link('/portal/games', { status }), note, tone });

const describeRun = ({ outcome, started_at }: RunRow, isPaused: boolean): SafeHtml => {
  const shown = outcome === null ? RUNNING_BADGE : badge(outcome);
  const began = outcome === null ? 'began ' : null;
  return html`<a href="/portal/runs">${shown}</a> ${began}${ago(started_at)}${isPaused ? ', before the pause' : null}`;
};

/** What stands in place of problems. */
const calmBanner = ({ passed, pending }: Record<AuditStatus, number>): SafeHtml => {
  const live = passed === 1 ? '1 game is live' : `${number(passed)} games are live`;
  const waiting = pending === 1 ? '1 waits for review' : `${number(pending)} wait for review`;
  return banner('Nothing to fix', pending === 0 ? `${live}.` : `${live}, ${waiting}.`, 'good', null);
};

const nextRun = ({ application, isReading, mayRead }: Reading) => {
  if (isReading) return 'Your list is being read.';
  const at = nextRunAt(application);
  return at && html`${due(at)} ${mayRead ? readButton('quiet') : null}`;
};

/** How the last run ended, and when the next one begins, where nothing above says it. */
const runFacts = (reading: Reading) => {
  const { last: run, isPaused } = reading;
  if (run === undefined) return [['Last run', isPaused ? 'There was none yet.' : NO_RUN] as const];
  const isSaid = unreadTitle(reading) !== null;
  const why = isSaid && run.finished_at !== null ? null : whyCell(run);
  const next = isSaid ? null : nextRun(reading);
  return [
    [
      'Last run',
      html`${describeRun(run, isPaused)}${why && html`<p class="soft" dir="auto">${showWhy(why)}</p>`}`,
    ] as const,
    ...(next === null ? [] : [['Next run', next] as const]),
  ];
};

const NO_RUN = html`There was none yet: <a href="/portal/checks">check your webhooks</a> first.`;
const NO_ADDRESS = html`They are not sent: fetch them by <code>event/list</code>, or <a href="/portal/events">set an address of yours</a>.`;

/** How the application, its runs and its events fare. Why they fail is said above. */
const stateSection = (reading: Reading, isHeld: boolean, webhook: EventWebhook | undefined): SafeHtml => {
  const { application, isPaused } = reading;
  const pace = application && html`<p class="soft">${describePace(application)}</p>`;
  const isRead = !isPaused && application?.failing_since == null;
  const state = webhook && !mayMendAddress(webhook) ? describeAddress(webhook) : null;
  return section(
    'State',
    facts([
      [
        'Application',
        html`${isRead ? badge('active') : badge(isPaused ? 'paused' : 'failing', 'bad')}${
          isHeld ? html` ${badge('games held', 'bad')}` : null
        }${isRead ? pace : null}`,
      ],
      ...runFacts(reading),
      ['Events', webhook === undefined ? NO_ADDRESS : html`${addressBadge(webhook)} ${state}`],
    ]),
  );
};

/** Adds `/portal`. */
export const addPortalOverview = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  const sources = sourcesOf(options);
  portal.get('/portal', SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [
      reading,
      games,
      withdrawn,
      rejections,
      messages,
      groups,
      [check],
      webhook,
      identity,
      suspect,
      median_ms,
      work,
      lastMs,
    ] = await Promise.all([
      readReading(sources, application_id),
      countGamesOf(sql, application_id),
      countWithdrawnGames(sql, application_id, WITHDRAWN_COUNTED + 1),
      countRejections(sql, application_id),
      listUnanswered(sql, application_id, MESSAGES_SHOWN),
      readFirst(failureGroupList, sources, { application_id }, CAUSES_READ),
      readFirst(checkList, sources, { application_id }, 1),
      findEventWebhook(sql, application_id),
      readIdentity(sql, application_id),
      findSuspectEnd(sql, application_id),
      readMedianWaitMs(sql),
      portal.countForDeveloper(request),
      readAddressLifetimeMs(sql, application_id),
    ]);
    const rejected = rejections.flatMap(({ named }) => named);
    const refused = await findRefused(sql, application_id, rejected);
    const wait = median_ms === null ? undefined : `median wait ${formatDuration(median_ms)}`;
    const isEmpty = withdrawn === 0 && AUDIT_STATUSES.every((status) => games[status] === 0);
    const problems = [
      ...standingProblem(identity, options.contact),
      ...unreadProblem(reading, check, options.contact),
      ...suspectProblem(suspect, reading, options.contact),
      ...eventProblem(webhook, work.given_up),
      ...rejectedProblem(rejections, refused, work.rejected, reading.isPaused),
      ...messageProblem(messages),
      ...failureProblem(groups),
      ...addressProblem(reading, lastMs),
    ];
    const isNew = isEmpty && problems.length === 0;
    const shown = [...problems, ...checkProblem(check)];
    const cards = AUDIT_STATUSES.map((status) =>
      statusCard(status, number(games[status]), {
        note: status === 'pending' && !isEmpty ? wait : undefined,
        // The number is red while one of the games waits for its developer.
        tone: status === 'rejected' && !allWait(rejections, refused) ? 'bad' : '',
      }),
    );
    const gone = statusCard('withdrawn', numberUpTo(WITHDRAWN_COUNTED, withdrawn));
    const standing = standingSection(identity, games.pending, reading);
    const body = isNew
      ? html`${firstSteps(reading, check, webhook !== undefined)}${standing}`
      : html`${problemCards(shown) ?? calmBanner(games)}
${isEmpty ? null : html`<div class="stats">${cards}${gone}</div>`}
<div class="columns tables">${stateSection(reading, identity.standing.hold !== undefined, webhook)}${standing}</div>`;
    return sendPortal(reply, {
      title: 'Overview',
      at: '/portal',
      body,
      lead: 'Where your games are, and why.',
    });
  });
};
