import { sql } from 'drizzle-orm';
import { type AnyPgColumn, boolean, check, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { areLists, areOf, areShort, bytea, isOneOf, moment } from '#db/schema/columns.ts';
import { LOGIN } from '#src/contract/operators.ts';
import { OPERATOR_STATUSES, ROLES, type Role, SITES } from '#src/contract/roles.ts';

/** The people who sign in to the console. A login is never used again for another person. */
export const operators = pgTable(
  'operators',
  {
    login: text().primaryKey(),
    name: text().notNull(),
    roles: text().array().$type<Role[]>().notNull(),
    /** Every role that the operator has or had. The trigger `operators_count` writes it. */
    held_roles: text().array().$type<Role[]>().notNull().default(sql`'{}'`),
    status: text({ enum: OPERATOR_STATUSES }).notNull().default('active'),
    /** argon2id in PHC format. Null: none is set, or the operator signs in by OIDC. */
    password_hash: text(),
    has_password: boolean().notNull().generatedAlwaysAs(sql`password_hash is not null`),
    /** `<issuer> <sub>` of an operator who signs in by OIDC. */
    oidc_subject: text().unique(),
    created_at: moment('created_at').notNull().defaultNow(),
    /** When the operator begins to count as the second person: a day after a role or a link made it possible. */
    counts_at: moment('counts_at').notNull().defaultNow(),
    last_sign_in_at: moment('last_sign_in_at'),
    /** Single keys decide and move in the console. People who speak to their computer switch them off. */
    single_keys: boolean().notNull().default(true),
  },
  (table) => [
    check('operators_login', sql`${table.login} ~ ${sql.raw(`'${LOGIN.source}'`)}`),
    isOneOf('operators_status', table.status, OPERATOR_STATUSES),
    areShort('operators_texts', [table.name, table.oidc_subject, table.roles]),
    areLists('operators_lists', [table.roles, table.held_roles]),
    // The other site verifies this hash. With higher costs, one sign-in would take the memory and the threads of that site.
    check(
      'operators_password_hash',
      sql`${table.password_hash} ~ '^\\$argon2id\\$v=19\\$m=([89]|[1-9][0-9]{1,4}),t=[1-4],p=1\\$[A-Za-z0-9+/]{22}\\$[A-Za-z0-9+/]{43}$'`,
    ),
    // A null among the roles would hide a role from the triggers that compare them.
    areOf('operators_roles', table.roles, ROLES),
  ],
);

const login = () =>
  text()
    .notNull()
    .references(() => operators.login, { onDelete: 'cascade' });

/** The site of the database role that writes the row. The trigger `bind_to_site` refuses another one. */
const site = () => text({ enum: SITES }).notNull();
const isKnownSite = (name: string, column: AnyPgColumn) => isOneOf(name, column, SITES);

/** Signed-in browsers, by the SHA-256 of their cookie. */
export const operatorSessions = pgTable(
  'operator_sessions',
  {
    session_hash: bytea().primaryKey(),
    login: login(),
    site: site(),
    started_at: moment('started_at').notNull().defaultNow(),
    /** The last request, or one up to a minute before it, so that few requests write. */
    seen_at: moment('seen_at').notNull().defaultNow(),
    /** When the OIDC provider last checked the credentials again for this session. One reveal uses it up. */
    confirmed_at: moment('confirmed_at'),
  },
  (table) => [
    index('operator_sessions_login').on(table.login),
    isKnownSite('operator_sessions_site', table.site),
  ],
);

/** One-time sign-in links, by the SHA-256 of their secret. */
export const signInLinks = pgTable(
  'sign_in_links',
  {
    link_hash: bytea().primaryKey(),
    login: login(),
    /** False: opening the link signs in, without setting a password (the demo). */
    sets_password: boolean().notNull().default(true),
    expires_at: moment('expires_at').notNull(),
  },
  (table) => [index('sign_in_links_login').on(table.login)],
);

/** Sign-ins that were tried, by network address and by login: every console process counts here. */
export const signInAttempts = pgTable('sign_in_attempts', {
  /** `address:…`, `login:…`, `browser:…`, `confirm:…`, `portal:…`, `token:…`, `oidc:…` or `refusals:…`. */
  attempt_key: text().primaryKey(),
  attempts: integer().notNull(),
  window_ends_at: moment('window_ends_at').notNull(),
});

/** Sign-ins by OIDC between the redirect and its return, by the SHA-256 of the browser's cookie. */
export const oidcFlows = pgTable(
  'oidc_flows',
  {
    flow_hash: bytea().primaryKey(),
    site: site(),
    state: text().notNull(),
    nonce: text().notNull(),
    code_verifier: text().notNull(),
    next: text().notNull(),
    expires_at: moment('expires_at').notNull(),
  },
  (table) => [isKnownSite('oidc_flows_site', table.site)],
);
