import { sql } from 'drizzle-orm';
import { check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { applications } from '#db/schema/applications.ts';
import { areShort, bytea, moment } from '#db/schema/columns.ts';
import { operators } from '#db/schema/identity.ts';
import type { Role } from '#src/contract/roles.ts';

/** Who may call the platform's own operations (interface document, section 5) and the operator API. */
export const apiTokens = pgTable(
  'api_tokens',
  {
    token_id: uuid().primaryKey(),
    /** SHA-256 of the SHA-256 of the token, because 256 random bits need no slow hash. The token is not stored. */
    token_hash: bytea().notNull().unique(),
    /** Whose games it reads; null for an operator's. */
    application_id: text().references(() => applications.application_id, { onDelete: 'cascade' }),
    /** The operator as whom it acts; null for an application's. */
    login: text().references(() => operators.login, { onDelete: 'cascade' }),
    /** An operator's token has at most these, and at each call only those that the operator still has. */
    roles: text().array().$type<Role[]>(),
    name: text().notNull(),
    created_at: moment('created_at').notNull().defaultNow(),
    expires_at: moment('expires_at'),
    revoked_at: moment('revoked_at'),
    /** To the minute or so, because a call does not wait for a write. */
    last_used_at: moment('last_used_at'),
  },
  (table) => [
    check('api_tokens_hash', sql`octet_length(${table.token_hash}) = 32`),
    check(
      'api_tokens_owner',
      sql`num_nonnulls(${table.application_id}, ${table.login}) = 1 and (${table.login} is null) = (${table.roles} is null)`,
    ),
    index('api_tokens_login').on(table.login),
    areShort('api_tokens_texts', [table.name]),
  ],
);
