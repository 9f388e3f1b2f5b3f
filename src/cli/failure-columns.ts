import type { FailureRow } from '#db/queries/failures.ts';
import type { Column } from '#src/cli/output.ts';

const formatReasons = ({ reasons }: Pick<FailureRow, 'reasons'>): string =>
  reasons.map(({ path, code }) => (path === '' ? code : `${path}: ${code}`)).join(', ');

/** How lists show a failure. */
export const FAILURE_COLUMNS: Column<FailureRow>[] = [
  'application_id',
  'operation',
  ['game', 'application_game_id'],
  'kind',
  ['reasons', formatReasons],
  'count',
  'last_at',
];
