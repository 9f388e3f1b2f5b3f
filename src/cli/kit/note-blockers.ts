import { openDatabase } from '#db/client.ts';
import { type Blocker, readBlockers } from '#db/queries/connections.ts';
import type { Output } from '#src/cli/kit/output.ts';

/** A migration waits for a lock during two of three seconds, so one of the first looks sees it wait. */
const LOOK_MS = 2_000;

const describe = ({ pid, login, program, lacks_standby }: Blocker): string => {
  if (lacks_standby)
    return 'This command waits for a synchronous standby of Postgres (SyncRep): start it, or take it out of synchronous_standby_names.';
  if (pid === null)
    return 'This command waits for a lock that a prepared transaction has: see select * from pg_prepared_xacts.';
  const session = `session ${pid} of Postgres has (login ${login}, program ${program || 'without a name'})`;
  const act = `an administrator ends it with select pg_terminate_backend(${pid})`;
  return `This command waits for a lock that ${session}. It goes on when that transaction ends; ${act}.`;
};

/**
 * Notes which sessions block this command, each of them once, because a command that waits for a lock looks as if it hung.
 * Uses a connection of its own, which opens after two seconds.
 * @param sessions the `application_name` of the command's connections
 */
export const noteBlockers = (
  databaseUrl: string,
  sessions: readonly string[],
  note: Output['note'],
): AsyncDisposable => {
  const sql = openDatabase(databaseUrl, { max: 1, applicationName: 'catalogue cli' });
  const said = new Set<string>();
  const look = async (): Promise<void> => {
    for (const blocker of await readBlockers(sql, sessions)) {
      const text = describe(blocker);
      if (!said.has(text)) note(text);
      said.add(text);
    }
  };
  // A look that fails is not the command's failure; the next one may succeed.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await sql.end({ timeout: 0 });
    },
  };
};
