/** `/failures`: what was not stored, grouped by what the application must fix. */

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type FailureGroup, groupFailures } from '#db/queries/console.ts';
import { hasRight } from '#src/contract/roles.ts';
import { retryFailures } from '#src/operations/pull-games.ts';
import { operatorOf, redirectAfter, sendPage } from '#src/site/answers.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import {
  action,
  ago,
  applicationLink,
  type Column,
  FILTERS,
  html,
  link,
  number,
  tableSection,
} from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { optionalText } from '#src/site/query.ts';

const GROUPS_MAX = 200;

/** What is wrong, with how many games. */
export const PROBLEM_COLUMNS: Column<FailureGroup>[] = [
  { head: 'What the application must fix', cell: explainFailure },
  {
    head: 'For example',
    minWidth: 900,
    cell: ({ application_id, example }) =>
      example === ''
        ? null
        : html`<a class="mono" href="${link('/games', { application: application_id, q: example })}">${example}</a>`,
  },
  { head: 'Games', numeric: true, cell: (row) => number(row.games) },
];

const query = z.object({ application: optionalText });

/** Adds `/failures`. */
export const addFailures = (app: FastifyInstance, options: ConsoleOptions): void => {
  const { sql } = options;
  app.get('/failures', { config: { right: 'view' } }, async (request, reply) => {
    const { application } = query.parse(request.query);
    const groups = await groupFailures(sql, { application_id: application, limit: GROUPS_MAX });
    const mayRetry = hasRight(operatorOf(request).roles, 'manage_applications');
    const body = html`<form method="get" ${FILTERS} role="search"><label class="field grow"><span>Application</span><input type="search" name="application" value="${application ?? ''}" placeholder="application id"></label><button class="button">Filter</button></form>
${tableSection(
  application === undefined ? 'All applications' : application,
  groups,
  [
    { head: 'Application', fit: 'words', cell: (row) => applicationLink(row.application_id) },
    ...PROBLEM_COLUMNS,
    { head: 'First', minWidth: 1200, cell: (row) => ago(row.first_at) },
    { head: 'Last', minWidth: 640, cell: (row) => ago(row.last_at) },
  ],
  { empty: 'No open failures: every listed game was stored.', label: 'Failures', stacked: true },
)}`;
    const actions =
      application !== undefined && mayRetry && groups.length > 0
        ? action('/failures', `Pull the failed games of ${application}`, {
            fields: { application },
            kind: 'primary',
          })
        : undefined;
    return sendPage(reply, {
      title: 'Failures',
      at: '/failures',
      body,
      actions,
      lead: 'Games that were not stored, by what the application must fix. A row disappears when its game is stored.',
    });
  });

  app.post('/failures', { config: { right: 'manage_applications' } }, async (request, reply) => {
    const { application } = z.object({ application: z.string() }).parse(request.body);
    return redirectAfter(reply, link('/failures', { application }), async () => {
      const { games } = await operateFor(request, options, retryFailures, { application_id: application });
      return `Requested again: ${number(games.length)} ${games.length === 1 ? 'game' : 'games'}.`;
    });
  });
};
