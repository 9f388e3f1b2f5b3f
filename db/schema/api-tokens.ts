import { sql } from 'drizzle-orm';
import { check, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { applications } from '#db/schema/applications.ts';
import { bytea, moment } from '#db/schema/columns.ts';

/** Who may call the platform's own operations (interface document, section 5). */
export const apiTokens = pgTable(
  'api_tokens',
  {
    token_id: uuid().primaryKey(),
    /** SHA-256 of the token: 256 random bits need no slow hash. The token is not stored. */
    token_hash: bytea().notNull().unique(),
    /** Whose games it reads; null for an operator's, which reads all. */
    application_id: text().references(() => applications.application_id, { onDelete: 'cascade' }),
    name: text().notNull(),
    created_at: moment('created_at').notNull().defaultNow(),
    expires_at: moment('expires_at'),
    revoked_at: moment('revoked_at'),
    /** To the minute or so: a call does not wait for a write. */
    last_used_at: moment('last_used_at'),
  },
  (table) => [check('api_tokens_hash', sql`octet_length(${table.token_hash}) = 32`)],
);
