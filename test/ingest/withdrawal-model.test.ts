import { it } from 'vitest';
import { playRuns } from '#test/ingest/withdrawal-model.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('60 runs in Postgres, over lists that move, shrink, grow, repeat, end early and come back, lose no live game', () =>
  playRuns(database.sql, 60));
