/** What could not be stored, on `/portal/runs`. */
import type { FailureItem } from '#db/queries/failure-list.ts';
import { isUnanswered } from '#src/contract/failure-words.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { failureList } from '#src/lists/failures.ts';
import { banner } from '#src/portal/answer.ts';
import { byNumber, idLink, linkTo, nameSome } from '#src/portal/links.ts';
import type { Reading } from '#src/portal/reading.ts';
import { rowsOf } from '#src/rules/listing.ts';
import { explainFailure } from '#src/site/explain-failure.ts';
import { ago, html, mono, number, type SafeHtml } from '#src/site/html.ts';
import { listTable } from '#src/site/list-table.ts';

export const FAILURES_SHOWN = 100;

/** Groups failures of one cause, by the latest of them. */
const groupByCause = (failures: readonly FailureItem[]): Map<FailureItem, FailureItem[]> => {
  const causes = Map.groupBy(failures, ({ operation, kind, reasons }) =>
    JSON.stringify([operation, kind, reasons]),
  );
  return new Map([...causes.values()].flatMap((each) => (each[0] === undefined ? [] : [[each[0], each]])));
};

/** The rows of the list of a failure that names no game. */
const unnamedRows = ({ application_game_id, reasons }: FailureItem): string[] =>
  application_game_id === NO_GAME ? rowsOf(reasons) : [];

/** Names the games of one cause, or the rows of the list that name none. */
const gamesCell = (failures: readonly FailureItem[]): SafeHtml | null => {
  const games = failures.filter(({ application_game_id }) => application_game_id !== NO_GAME);
  const ids = games.map(({ application_game_id }) => application_game_id).toSorted(byNumber);
  if (ids.length > 0) return nameSome(ids.map(idLink));
  const rows = failures.flatMap(unnamedRows);
  return rows.length === 0 ? null : html`${rows.length === 1 ? 'row' : 'rows'} ${nameSome(rows.map(mono))}`;
};

const describeNext = (failures: readonly FailureItem[], { isPaused, isReading }: Reading): string => {
  const first = failures.every(isUnanswered) ? 'Make your server reachable' : 'Correct your answers';
  if (isPaused) return `${first}: your games are read when the platform resumes your application.`;
  return isReading
    ? 'Your list is being read: what you have corrected leaves this list.'
    : `${first}, then have your list read.`;
};

/** Shows failures by their cause. @param failures at most `FAILURES_SHOWN`, the latest first */
export const failuresCard = (
  failures: readonly FailureItem[],
  steps: SafeHtml | null,
  reading: Reading,
): SafeHtml => {
  const causes = groupByCause(failures);
  const latest = listTable(failureList, [...causes.keys()], {
    linkTo,
    only: ['reasons', 'game', 'last'],
    cells: {
      reasons: (failure) => html`${explainFailure(failure)}<br class="to-640"><small class="to-640">last
${ago(failure.last_at)}</small>`,
      game: (failure) => gamesCell(causes.get(failure) ?? []),
    },
    label: 'Failures',
  });
  const isCut = failures.length === FAILURES_SHOWN;
  const all = failures.reduce((sum, failure) => sum + Math.max(1, unnamedRows(failure).length), 0);
  const title = all === 1 ? '1 failure to fix' : `${number(all)} failures to fix`;
  const shown = html`<p class="body">${describeNext(failures, reading)}</p>${latest}`;
  return banner(isCut ? `The latest ${title}` : title, shown, 'warn', steps);
};
