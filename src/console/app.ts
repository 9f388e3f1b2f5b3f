/** The operators' web console, and the portal of applications' developers. */
import type { FastifyInstance } from 'fastify';
import { addBullBoard } from '#src/console/bull-board.ts';
import { createNavigationCounts } from '#src/console/navigation-counts.ts';
import { addAppeals } from '#src/console/pages/appeals.ts';
import { addApplicationSettings } from '#src/console/pages/application-settings.ts';
import { addHolds } from '#src/console/pages/application-standing.ts';
import { addApplications } from '#src/console/pages/applications.ts';
import { addAudit } from '#src/console/pages/audit.ts';
import { addBatches } from '#src/console/pages/batches.ts';
import { addFailures } from '#src/console/pages/failures.ts';
import { addFigures } from '#src/console/pages/figures.ts';
import { addGame } from '#src/console/pages/game.ts';
import { addGameActs } from '#src/console/pages/game-acts.ts';
import { addGameThread } from '#src/console/pages/game-thread.ts';
import { addGameViewers } from '#src/console/pages/game-viewers.ts';
import { addGames } from '#src/console/pages/games.ts';
import { addHome } from '#src/console/pages/home.ts';
import { addIcons } from '#src/console/pages/icons.ts';
import { addNextGame } from '#src/console/pages/next-game.ts';
import { addOperators } from '#src/console/pages/operators.ts';
import { addPictures } from '#src/console/pages/picture-routes.ts';
import { addQueuePage } from '#src/console/pages/queues.ts';
import { addReasons } from '#src/console/pages/reasons.ts';
import { addReview } from '#src/console/pages/review.ts';
import { addRuns } from '#src/console/pages/runs.ts';
import { addSharedNames } from '#src/console/pages/shared-names.ts';
import { addTokens } from '#src/console/pages/tokens.ts';
import { describeSinglePersonActions } from '#src/operations/second-person.ts';
import { addPortalChecks } from '#src/portal/checks.ts';
import { addPortalEvents } from '#src/portal/events.ts';
import { addPortalGame } from '#src/portal/game.ts';
import { addPortalGames } from '#src/portal/games.ts';
import { addPortalOverview } from '#src/portal/overview.ts';
import { addPortalPictures } from '#src/portal/pictures.ts';
import { addPortalRuns } from '#src/portal/runs.ts';
import { addPortalSession } from '#src/portal/session.ts';
import { addPortalThread } from '#src/portal/thread.ts';
import { keepFresh } from '#src/site/counter.ts';
import { FILTERS, html, input } from '#src/site/html.ts';
import { NAVIGATION, type SiteFrame } from '#src/site/layout.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { createSite } from '#src/site/site.ts';

/** What a page of an error offers. */
const WAY_ON = html`<form method="get" action="/games" ${FILTERS} role="search" aria-label="Find a game">
${input('Name or id of a game', { name: 'q', type: 'search', required: true, grow: true })}
<button class="button">Search</button></form>
<p><a class="button" href="/">Overview</a></p>`;

/** Builds the server of the console; it does not listen yet. */
export const buildConsole = async (options: ConsoleOptions): Promise<FastifyInstance> => {
  const counter = createNavigationCounts(options.sql);
  const frame: SiteFrame = {
    site: 'console',
    name: 'Game Catalogue',
    lead: 'The console of the Game Catalogue.',
    navigation: NAVIGATION,
    warning: describeSinglePersonActions(options.fourEyes),
    wayOn: WAY_ON,
    counts: () => counter.counts().places,
    decidedToday: (login) => counter.counts().decided[login] ?? 0,
  };
  const app = await createSite(options, frame);
  keepFresh(app, counter);
  addHome(app, options);
  addReview(app, options);
  addNextGame(app, options);
  addSharedNames(app, options);
  addBatches(app, options);
  addAppeals(app, options);
  addFigures(app, options);
  addGames(app, options);
  addGame(app, options);
  addGameActs(app, options);
  addGameViewers(app, options);
  addGameThread(app, options);
  addApplications(app, options);
  addApplicationSettings(app, options);
  addHolds(app, options);
  addIcons(app, options);
  addPictures(app, options);
  addRuns(app, options);
  addFailures(app, options);
  addAudit(app, options);
  addOperators(app, options);
  addReasons(app, options);
  addTokens(app, options);
  addQueuePage(app, options);
  addPortalSession(app, options);
  addPortalOverview(app, options);
  addPortalRuns(app, options);
  addPortalChecks(app, options);
  addPortalGames(app, options);
  addPortalGame(app, options);
  addPortalThread(app, options);
  addPortalPictures(app, options);
  addPortalEvents(app, options);
  await addBullBoard(app, options);
  await app.ready();
  return app;
};
