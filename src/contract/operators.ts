/** What an administrator sets for an operator, as the command line and the operator API name it. */
import { z } from 'zod';
import { ROLES } from '#src/contract/roles.ts';

/** What the audit log and decisions name those whose login is not known, and the platform. The constraint `operators_login` has them. */
export const RESERVED_LOGINS = ['unknown', 'catalogue'];

/** A login, in lower case. */
export const LOGIN = new RegExp(`^(?!(${RESERVED_LOGINS.join('|')})$)[a-z0-9][a-z0-9._@+-]{0,99}$`);

/** The name with which an operator signs in. Upper case counts as lower case. */
export const login = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    LOGIN,
    `must be letters, digits and . _ @ + -, at most 100, beginning with a letter or digit, and not ${RESERVED_LOGINS.join(' or ')}`,
  );

/** Each role once. */
export const roles = z
  .array(z.enum(ROLES))
  .min(1, 'must be at least one')
  .max(ROLES.length, 'must be each role once')
  .transform((given) => [...new Set(given)]);
