import { userInfo } from 'node:os';
import type { Actor } from '#db/queries/audit.ts';
import type { Caller } from '#src/operations/operation.ts';

/** The user of the operating system; its number in a container without a user database. */
const readSystemUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
};

/**
 * Who runs this command, for the audit log.
 * @param by the name that `--by` claims; absent: the user of the operating system
 */
export const commandLineActor = (by?: string): Actor => {
  const os_user = readSystemUser();
  return { actor: by ?? os_user, actor_kind: 'command_line', os_user };
};

/** The caller of an operation: who reaches the database from a shell has every right but that of a second person. */
export const commandLineCaller = (by?: string): Caller => ({ actor: commandLineActor(by), roles: 'all' });
