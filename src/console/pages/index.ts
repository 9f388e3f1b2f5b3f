import type { FastifyInstance } from 'fastify';
import type { ConsoleOptions } from '#src/console/options.ts';
import { addApplications } from '#src/console/pages/applications.ts';
import { addAudit } from '#src/console/pages/audit.ts';
import { addFailures } from '#src/console/pages/failures.ts';
import { addGame } from '#src/console/pages/game.ts';
import { addGames } from '#src/console/pages/games.ts';
import { addHome } from '#src/console/pages/home.ts';
import { addOperators } from '#src/console/pages/operators.ts';
import { addPictures } from '#src/console/pages/picture-routes.ts';
import { addReasons } from '#src/console/pages/reasons.ts';
import { addReview } from '#src/console/pages/review.ts';
import { addRuns } from '#src/console/pages/runs.ts';

/** Every page of the console, each in a file of its own. */
export const addPages = (app: FastifyInstance, options: ConsoleOptions): void => {
  addHome(app, options);
  addReview(app, options);
  addGames(app, options);
  addGame(app, options);
  addApplications(app, options);
  addPictures(app, options);
  addRuns(app, options);
  addFailures(app, options);
  addAudit(app, options);
  addOperators(app, options);
  addReasons(app, options);
};
