/** `/failures`: what was not stored, grouped by what the application must fix. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { operatorActor } from '#db/queries/audit.ts';
import { type FailureGroup, groupFailures } from '#db/queries/console.ts';
import { retryFailedGames } from '#src/actions/pull-games.ts';
import { operatorOf, redirectWith, sendPage } from '#src/console/answers.ts';
import {
  action,
  ago,
  applicationLink,
  type Column,
  FILTERS,
  html,
  link,
  number,
  type SafeHtml,
  tableSection,
} from '#src/console/html.ts';
import type { ConsoleOptions } from '#src/console/options.ts';
import { optionalText } from '#src/console/query.ts';
import { hasRight } from '#src/contract/roles.ts';

const GROUPS_MAX = 200;

/** What each kind means to the application's developer (docs/application-developers.md). */
const KINDS: Record<string, string> = {
  invalid_item: 'A row of the list does not match section 2.4.',
  invalid_data: 'The answer does not match the interface document.',
  ret_code: 'The webhook returned a failure.',
  http_status: 'The webhook answered with an HTTP error.',
  not_envelope: 'The answer has no ret_code and ret_msg.',
  not_json: 'The answer is not JSON.',
  not_utf8: 'The answer is not UTF-8.',
  too_deep: 'The answer is nested too deeply.',
  not_decodable: 'The answer has a compression that was not requested.',
  body_too_large: 'The answer is too large.',
  redirect: 'The address redirects: register the final one.',
  timeout: 'No complete answer in time.',
  connect_failed: 'No connection.',
  connection_lost: 'The connection broke.',
  name_not_found: 'The name of the server does not resolve.',
  tls_failed: 'The certificate is not valid.',
  forbidden_address: 'The address is not public.',
  not_asked: 'The batch ended before this game.',
  cp_id_changed: 'The cp_id of the KYC record changed.',
};

const CODES: Record<string, string> = {
  invalid_type: 'missing or of another type',
  too_small: 'empty',
  too_long: 'too long',
  too_big: 'too many',
  not_http_url: 'not an http or https address',
  not_storable: 'has a character that cannot be stored',
  mismatch: 'of another game',
  without_length: 'without a length: it may have been cut',
  unrequested_100_or_101: 'preceded by 100 Continue or 101 Switching Protocols, which was not requested',
};

/** What is wrong, in words and with the fields. */
export const explainFailure = ({
  kind,
  reasons,
  operation,
}: Pick<FailureGroup, 'kind' | 'reasons' | 'operation'>): SafeHtml => {
  const fields = reasons
    .slice(0, 5)
    .map(({ path, code }) => `${path === '' ? 'the answer' : path} is ${CODES[code] ?? code}`)
    .join(', ');
  return html`${KINDS[kind] ?? `Failed: ${kind}.`}<br><small>${operation}${fields === '' ? '' : `: ${fields}`}</small>`;
};

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
export const addFailures = (app: FastifyInstance, { sql, producer }: ConsoleOptions): void => {
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
    const { application } = z.object({ application: z.string().min(1).max(63) }).parse(request.body);
    const { games } = await retryFailedGames(
      { sql, producer },
      operatorActor(operatorOf(request).login),
      application,
    );
    return redirectWith(
      reply,
      link('/failures', { application }),
      `Requested again: ${number(games)} ${games === 1 ? 'game' : 'games'}.`,
    );
  });
};
