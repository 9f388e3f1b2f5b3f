import { userInfo } from 'node:os';
import { UsageError } from '#src/errors.ts';
import type { Caller } from '#src/operations/operation.ts';

/** The user of the operating system; its number in a container without a user database. */
const readSystemUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? '?'}`;
  }
};

/** CATALOGUE_OPERATOR of the image (Dockerfile), where everybody is the same system user. */
const REQUIRED = 'required';
const IN_COMPOSE = 'docker compose run --rm --env CATALOGUE_OPERATOR=kim operator …';
const IN_KUBERNETES = 'kubectl exec deploy/catalogue-operator -- env CATALOGUE_OPERATOR=kim catalogue …';

/**
 * Returns the caller of this command. A person who reaches the database from a shell has every right but that of a second person.
 * @param name what `--by` claims, else CATALOGUE_OPERATOR; absent: the user of the operating system
 * @throws UsageError in the image, if no name is given
 */
export const commandLineCaller = (name: string | undefined): Caller => {
  if (name === REQUIRED)
    throw new UsageError(
      `The audit log needs your name: set CATALOGUE_OPERATOR, as in ${IN_COMPOSE}, or ${IN_KUBERNETES}. Nothing was changed.`,
    );
  const os_user = readSystemUser();
  return { actor: { actor: name ?? os_user, actor_kind: 'command_line', os_user }, roles: 'all' };
};
