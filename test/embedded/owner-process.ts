// Starts the embedded Postgres of the home given as argument, as `up` does. Prints its URL; stops on SIGTERM and when
// its parent ends.
import { once } from 'node:events';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { coerceError } from '#src/errors.ts';

// Registered first: the reader of the URL can send the signal before the next line runs.
const termination = Promise.race([once(process, 'SIGTERM'), once(process.stdin.resume(), 'end')]);
try {
  const instance = await startEmbeddedPostgres({ home: process.argv[2] ?? '', settings: { fsync: 'off' } });
  process.stdout.write(`${JSON.stringify({ databaseUrl: instance.databaseUrl })}\n`);
  await termination;
  await instance.stop();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: coerceError(error).message })}\n`);
}
process.stdin.destroy();
