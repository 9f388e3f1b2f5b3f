import { it } from 'vitest';
import { playRandomHistory } from '#test/stream/random-history.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

it('a copy made from the stream equals the tables after a long random history with killed sessions', () =>
  playRandomHistory(database, 60));
