import { userInfo } from 'node:os';
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
 * Returns the caller of this command. A person who reaches the database from a shell has every right but that of a second person.
 * @param by the name that `--by` claims; absent: the user of the operating system
 */
export const commandLineCaller = (by?: string): Caller => {
  const os_user = readSystemUser();
  return { actor: { actor: by ?? os_user, actor_kind: 'command_line', os_user }, roles: 'all' };
};
