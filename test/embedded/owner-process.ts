// Owns the embedded Postgres of the home given as argument, as `up` does: prints its URL, stops on SIGTERM,
// and when its starter is gone.
import { once } from 'node:events';
import { startEmbeddedPostgres } from '#src/embedded/postgres.ts';
import { coerceError } from '#src/errors.ts';

// From the beginning: who reads the URL may send the signal before the next line of ours has run.
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
