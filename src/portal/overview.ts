/** `/portal`. */

import type { FastifyInstance } from 'fastify';
import { findApplication } from '#db/queries/applications.ts';
import { type EventWebhook, findEventWebhook } from '#db/queries/event-webhooks.ts';
import type { FailureGroup } from '#db/queries/failure-list.ts';
import { countGamesOf, countWithdrawnGames } from '#db/queries/game-counts.ts';
import { readMedianWaitMs } from '#db/queries/lane-counts.ts';
import { countRejections, type RejectionCount } from '#db/queries/reasons.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { AUDIT_STATUSES, type AuditStatus } from '#src/contract/words.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { readFirst } from '#src/lists/read.ts';
import { runList } from '#src/lists/runs.ts';
import { describeSchedule } from '#src/portal/game.ts';
import { findForm, WITHDRAWN_COUNTED } from '#src/portal/games.ts';
import { gameUrl, linkTo } from '#src/portal/links.ts';
import { whyCell } from '#src/portal/reports.ts';
import { holderOf, sendPortal } from '#src/portal/session.ts';
import { standingSection } from '#src/portal/standing.ts';
import { addressBadge, describeAddress, mayMendAddress } from '#src/site/event-cells.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import {
  ago,
  badge,
  due,
  facts,
  formatDuration,
  gameName,
  html,
  link,
  number,
  numberUpTo,
  type SafeHtml,
  section,
  stat,
} from '#src/site/html.ts';
import { listTable } from '#src/site/list-table.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const GROUPS_SHOWN = 5;
const signedIn = { config: { right: 'application' } } as const;

/** @param note below the number */
const statusCard = (status: AuditStatus | 'withdrawn', games: string, note?: string): SafeHtml => {
  const tone = status === 'rejected' && games !== '0' ? 'bad' : '';
  return stat(status, games, { url: link('/portal/games', { status }), note, tone });
};

const namedGame = (
  { application_game_id, game_name }: RejectionCount['named'][number],
  n: number,
): SafeHtml =>
  html`${n === 0 ? null : ', '}<a href="${gameUrl(application_game_id)}" dir="auto">${gameName(game_name)}</a>`;

const rejection = ({ label, games, text, named }: RejectionCount): SafeHtml => html`<li>
<strong dir="auto">${label ?? 'no reason given'}</strong>: ${named.length > 0 ? named.map(namedGame) : `${number(games)} games`}
${text === null || text === '' ? null : html`<blockquote dir="auto">${text}</blockquote>`}</li>`;

/** A link to the page on which the developer can solve a problem. */
const actButton = (url: string, label: string): SafeHtml =>
  html`<a class="button" href="${url}">${label}</a>`;

/** Shows what a developer should mend first: the games that a reviewer has rejected. */
const rejectedSection = (rejections: readonly RejectionCount[]): SafeHtml | null => {
  const games = rejections.reduce((sum, each) => sum + each.games, 0);
  if (games === 0) return null;
  const title = games === 1 ? 'A game was rejected' : `${number(games)} games were rejected`;
  const only = games === 1 ? rejections[0]?.named[0] : undefined;
  const aside =
    only === undefined
      ? actButton('/portal/games?status=rejected', 'Read why')
      : actButton(gameUrl(only.application_game_id), 'Open the game');
  return section(
    title,
    html`<div class="body"><ul class="reasons-of">${rejections.map(rejection)}</ul>
<p class="soft">A game returns to review when its content changes in your answers.</p></div>`,
    { tone: 'bad', aside },
  );
};

const problemSection = (groups: readonly FailureGroup[]): SafeHtml | null => {
  if (groups.length === 0) return null;
  const shown = listTable(failureGroupList, groups, {
    linkTo,
    only: ['reasons', 'extent', 'example', 'games'],
    cells: { reasons: explainFailure },
    label: 'What could not be stored',
    stacked: 'lines',
  });
  return section('What could not be stored', shown, {
    tone: 'warn',
    aside: actButton('/portal/runs', 'All failures'),
  });
};

/** Events that do not arrive, if their developer can mend it. */
const eventSection = (webhook: EventWebhook | undefined): SafeHtml | null =>
  webhook === undefined || !mayMendAddress(webhook)
    ? null
    : section('Events do not arrive', html`<p class="body">${describeAddress(webhook)}</p>`, {
        tone: 'warn',
        aside: actButton('/portal/events', 'Fix the address'),
      });

/**
 * Shows the runs of a paused or failing application, because without them the platform sees no change of a game.
 * @param run the last one, if it says why
 */
const runsSection = (state: SafeHtml | string, run: RunRow | undefined): SafeHtml => {
  const why = run && whyCell(run);
  return section(
    'The platform does not read your games',
    html`<p class="body">${why && html`<span dir="auto">${why}</span><br>`}${state}</p>`,
    { tone: 'bad', aside: actButton('/portal/runs', 'See the runs') },
  );
};

/** Adds `/portal`. */
export const addPortalOverview = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  const sources = sourcesOf(options);
  portal.get('/portal', signedIn, async (request, reply) => {
    const { application_id } = holderOf(request);
    const [application, games, withdrawn, rejections, groups, runs, webhook, median_ms] = await Promise.all([
      findApplication(sql, application_id),
      countGamesOf(sql, application_id),
      countWithdrawnGames(sql, application_id, WITHDRAWN_COUNTED + 1),
      countRejections(sql, application_id),
      readFirst(failureGroupList, sources, { application_id }, GROUPS_SHOWN),
      readFirst(runList, sources, { application_id }, 1),
      findEventWebhook(sql, application_id),
      readMedianWaitMs(sql),
    ]);
    const wait = median_ms === null ? undefined : `median wait ${formatDuration(median_ms)}`;
    const [run] = runs;
    const isPaused = application?.status === 'paused';
    const isFailing = application?.failing_since != null;
    const isRead = !isPaused && !isFailing;
    const state = isPaused
      ? `Paused: ${application.pause_reason ?? 'the platform has paused it'}. Its webhooks are not called.`
      : isFailing
        ? html`First failure ${ago(application.failing_since)}<br>Next run ${due(application.next_attempt_at)}`
        : application && describeSchedule(application);
    const cards = AUDIT_STATUSES.map((status) =>
      statusCard(status, number(games[status]), status === 'pending' ? wait : undefined),
    );
    const unread = isRead || state === undefined ? null : runsSection(state, isPaused ? undefined : run);
    const body = html`${unread}${rejectedSection(rejections)}${problemSection(groups)}${eventSection(webhook)}
<div class="stats">${cards}${statusCard('withdrawn', numberUpTo(WITHDRAWN_COUNTED, withdrawn))}</div>
${findForm()}
<div class="columns tables">${section(
      'State',
      facts([
        [
          'Application',
          isRead
            ? html`${badge('active')}<p class="soft">${state}</p>`
            : badge(isPaused ? 'paused' : 'failing'),
        ],
        [
          'Last run',
          run === undefined
            ? html`There was none yet: <a href="/portal/checks">check your webhooks</a> first.`
            : html`<a href="/portal/runs">${badge(run.outcome ?? 'open')}</a> ${ago(run.started_at)}`,
        ],
        [
          'Events',
          webhook === undefined
            ? html`They are not sent: fetch them by event/list, or <a href="/portal/events">set an address of yours</a>.`
            : html`${addressBadge(webhook)} ${mayMendAddress(webhook) ? null : describeAddress(webhook)}`,
        ],
      ]),
    )}
${await standingSection(sql, application_id, games.pending)}</div>`;
    return sendPortal(reply, {
      title: 'Overview',
      at: '/portal',
      body,
      lead: 'Where your games are, and why.',
    });
  });
};
