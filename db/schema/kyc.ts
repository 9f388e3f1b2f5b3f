import { sql } from 'drizzle-orm';
import {
  bigserial,
  check,
  index,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { applications, type WrappedKey } from '#db/schema/applications.ts';
import { bytea, moment } from '#db/schema/columns.ts';
import { KYC_ACTIONS, KYC_STATES } from '#src/contract/words.ts';

const applicationId = () =>
  text()
    .notNull()
    .references(() => applications.application_id);

/**
 * Game developers: the platform's `cp_id`, one to one with the application's (interface document, section 2.6).
 * One is current for each application; one that an accepted `cp_id` took the place of stays, replaced.
 */
export const contentProviders = pgTable(
  'content_providers',
  {
    /** Ours, UUID v7. */
    cp_id: uuid().primaryKey(),
    application_id: applicationId(),
    application_cp_id: text().notNull(),
    mapped_at: moment('mapped_at').notNull().defaultNow(),
    /** Who accepted it in place of another; null for an application's first. */
    accepted_by: text(),
    replaced_at: moment('replaced_at'),
  },
  (table) => [
    unique('content_providers_application_cp').on(table.application_id, table.application_cp_id),
    uniqueIndex('content_providers_one_current')
      .on(table.application_id)
      .where(sql`${table.replaced_at} is null`),
  ],
);

/** The nine sealed fields of section 2.6, in the byte format of docs/kyc.md, and the data key they are under. */
const sealedColumns = () => ({
  cp_name: bytea().notNull(),
  cp_short_name: bytea().notNull(),
  legal_entity: bytea().notNull(),
  id_type: bytea().notNull(),
  id_number: bytea().notNull(),
  tax_id: bytea().notNull(),
  registered_address: bytea().notNull(),
  corporate_account: bytea().notNull(),
  opening_bank: bytea().notNull(),
  data_keys: jsonb().$type<WrappedKey[]>().notNull(),
});
const providerId = () =>
  uuid()
    .notNull()
    .references(() => contentProviders.cp_id);

/** The developer's record as it stands: one an application. */
export const kycRecords = pgTable(
  'kyc_records',
  {
    application_id: applicationId().primaryKey(),
    /** This version's own id, UUID v7: what is sealed opens under it alone. */
    record_id: uuid().notNull().unique(),
    cp_id: providerId(),
    ...sealedColumns(),
    /** Keyed hash of the record: equal means nothing to write. */
    fingerprint: bytea().notNull(),
    /** Keyed hash of the tax id: equal means the same company. Null where there is none. */
    tax_id_fingerprint: bytea(),
    received_at: moment('received_at').notNull(),
  },
  (table) => [index('kyc_records_tax_id').on(table.tax_id_fingerprint)],
);

/** What a record said before it changed, sealed as it was. */
export const kycFormerRecords = pgTable(
  'kyc_former_records',
  {
    record_id: uuid().primaryKey(),
    application_id: applicationId(),
    cp_id: providerId(),
    ...sealedColumns(),
    received_at: moment('received_at').notNull(),
    replaced_at: moment('replaced_at').notNull().defaultNow(),
  },
  (table) => [index('kyc_former_records_application').on(table.application_id)],
);

/** Where each application's record stands. No row: never asked for. */
export const kycStates = pgTable(
  'kyc_states',
  {
    application_id: applicationId().primaryKey(),
    state: text({ enum: KYC_STATES }).notNull().default('pending'),
    /** When the answer behind this state was asked for; an older answer never overwrites it. */
    asked_at: moment('asked_at'),
    /** The `cp_id` that waits to be accepted (design, section 5, decision 17). */
    refused_cp_id: text(),
    /** Why it failed: a code, or words of ours. */
    reason: text(),
  },
  (table) => [
    check(
      'kyc_states_known',
      sql`${table.state} in ('pending', 'sealed', 'not_provided', 'cp_id_changed', 'failed', 'erased')`,
    ),
  ],
);

/** Who saw a record in clear or erased it, when and why; written before it happens, and never a value. */
export const kycAccessLog = pgTable(
  'kyc_access_log',
  {
    entry_id: bigserial({ mode: 'number' }).primaryKey(),
    application_id: applicationId(),
    /** The version that was revealed. */
    record_id: uuid(),
    action: text({ enum: KYC_ACTIONS }).notNull(),
    accessed_by: text().notNull(),
    reason: text().notNull(),
    accessed_at: moment('accessed_at').notNull().defaultNow(),
  },
  (table) => [
    index('kyc_access_log_application').on(table.application_id),
    check('kyc_access_log_action', sql`${table.action} in ('reveal', 'erase')`),
  ],
);

/** Keys of the installation itself, wrapped: the one that fingerprints are made with. */
export const kycKeys = pgTable('kyc_keys', {
  purpose: text({ enum: ['fingerprint'] }).primaryKey(),
  data_keys: jsonb().$type<WrappedKey[]>().notNull(),
});
