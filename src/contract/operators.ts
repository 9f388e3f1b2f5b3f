/** What an administrator sets for an operator, as the command line and the operator API name it. */
import { z } from 'zod';
import { ROLES } from '#src/contract/roles.ts';

/** The name with which an operator signs in. Upper case counts as lower case. */
export const login = z
  .string()
  .trim()
  .toLowerCase()
  .regex(
    /^[a-z0-9][a-z0-9._@+-]{0,99}$/,
    'must be letters, digits and . _ @ + -, at most 100 characters, beginning with a letter or digit',
  );

/** Each role once. */
export const roles = z
  .array(z.enum(ROLES))
  .min(1, 'must be at least one')
  .max(ROLES.length, 'must be each role once')
  .transform((given) => [...new Set(given)]);
