import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  bigint,
  bigserial,
  boolean,
  check,
  index,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { applicationId, type WrappedKey } from '#db/schema/applications.ts';
import {
  areCounts,
  areKeys,
  areLists,
  areShort,
  areTimes,
  bytea,
  isOneOf,
  moment,
} from '#db/schema/columns.ts';
import { KYC_SEALED_FIELDS, type KycSealedField, mapKycFields } from '#src/contract/application.ts';
import { KYC_ACTIONS, KYC_STATES, VERDICT_ENDINGS, VERDICTS } from '#src/contract/words.ts';

/**
 * Content providers: the platform's `cp_id`, one to one with the application's (interface document, section 2.6).
 * Each application has one current provider; the ones before it stay, with `replaced_at`.
 */
export const contentProviders = pgTable(
  'content_providers',
  {
    /** The platform's, UUID v7. */
    cp_id: uuid().primaryKey(),
    application_id: applicationId(),
    application_cp_id: text().notNull(),
    mapped_at: moment('mapped_at').notNull().defaultNow(),
    replaced_at: moment('replaced_at'),
  },
  (table) => [
    unique('content_providers_application_cp').on(table.application_id, table.application_cp_id),
    uniqueIndex('content_providers_one_current')
      .on(table.application_id)
      .where(sql`${table.replaced_at} is null`),
    areShort('content_providers_texts', [table.application_cp_id]),
  ],
);

/** The nine sealed fields of section 2.6, in the byte format of docs/kyc.md, and their wrapped data key. */
const sealedColumns = () => ({
  ...mapKycFields(() => bytea().notNull()),
  data_keys: jsonb().$type<WrappedKey[]>().notNull(),
});
const sealedValues = (table: Record<KycSealedField, AnyPgColumn>): AnyPgColumn[] =>
  KYC_SEALED_FIELDS.map((field) => table[field]);
/** Names of the fields that differ from the version before. Empty for the first. */
const changedFields = () => ({ changed_fields: text().array().notNull() });
const providerId = () =>
  uuid()
    .notNull()
    .references(() => contentProviders.cp_id);

/** The current KYC record of each application. */
export const kycRecords = pgTable(
  'kyc_records',
  {
    application_id: applicationId().primaryKey(),
    /** Id of this version, UUID v7. The sealed fields open under this id alone. */
    record_id: uuid().notNull().unique(),
    cp_id: providerId(),
    ...sealedColumns(),
    /** Keyed hash of the record: equal means unchanged. */
    fingerprint: bytea().notNull(),
    /** Keyed hash of the tax id: equal means the same company. Null for an empty tax id. */
    tax_id_fingerprint: bytea(),
    received_at: moment('received_at').notNull(),
    ...changedFields(),
    /** Keyed hash of each field, for this version alone. */
    field_fingerprints: bytea().notNull(),
  },
  (table) => [
    index('kyc_records_tax_id').on(table.tax_id_fingerprint),
    areTimes('kyc_records_times', table.received_at),
    areKeys('kyc_records_data_keys', table.data_keys),
    areLists('kyc_records_changed_fields', [table.changed_fields]),
    areShort('kyc_records_sizes', [
      table.changed_fields,
      ...sealedValues(table),
      table.fingerprint,
      table.tax_id_fingerprint,
      table.field_fingerprints,
    ]),
  ],
);

/** Former versions of KYC records, sealed as they were. */
export const kycFormerRecords = pgTable(
  'kyc_former_records',
  {
    record_id: uuid().primaryKey(),
    application_id: applicationId(),
    cp_id: providerId(),
    ...sealedColumns(),
    received_at: moment('received_at').notNull(),
    replaced_at: moment('replaced_at').notNull().defaultNow(),
    ...changedFields(),
  },
  (table) => [
    index('kyc_former_records_application').on(table.application_id),
    index('kyc_former_records_replaced_at').on(table.replaced_at),
    areTimes('kyc_former_records_times', table.received_at),
    areKeys('kyc_former_records_data_keys', table.data_keys),
    areLists('kyc_former_records_changed_fields', [table.changed_fields]),
    areShort('kyc_former_records_sizes', [table.changed_fields, ...sealedValues(table)]),
  ],
);

/** The KYC state of each application. No row: never pulled. */
export const kycStates = pgTable(
  'kyc_states',
  {
    application_id: applicationId().primaryKey(),
    state: text({ enum: KYC_STATES }).notNull().default('pending'),
    /** When the pull behind this state began; an earlier pull never overwrites it. */
    pulled_at: moment('pulled_at'),
    /** When a schedule or an operator requested the next pull. Null once a pull that began later has ended. */
    requested_at: moment('requested_at'),
    /** The `cp_id` that waits to be accepted. */
    refused_cp_id: text(),
    /** Kind of the failure in state `failed`. */
    reason: text(),
  },
  (table) => [
    index('kyc_states_requested').on(table.requested_at).where(sql`${table.requested_at} is not null`),
    isOneOf('kyc_states_known', table.state, KYC_STATES),
    areShort('kyc_states_texts', [table.refused_cp_id, table.reason]),
  ],
);

/** Who revealed or erased a record, when and why. Written before the act, and never with a value. */
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
    isOneOf('kyc_access_log_action', table.action, KYC_ACTIONS),
    areCounts('kyc_access_log_counts', table.entry_id),
    areShort('kyc_access_log_texts', [table.accessed_by, table.reason]),
  ],
);

const KYC_KEY_PURPOSES = ['fingerprint', 'events'] as const;

/** Keys of the installation, wrapped: that of fingerprints, and the key pair that seals event secrets. */
export const kycKeys = pgTable(
  'kyc_keys',
  {
    purpose: text({ enum: KYC_KEY_PURPOSES }).primaryKey(),
    data_keys: jsonb().$type<WrappedKey[]>().notNull(),
    /** Null unless the row is a key pair. */
    public_key: bytea(),
  },
  (table) => [
    isOneOf('kyc_keys_purpose', table.purpose, KYC_KEY_PURPOSES),
    areKeys('kyc_keys_data_keys', table.data_keys),
    areShort('kyc_keys_sizes', [table.public_key]),
  ],
);

/**
 * What officers decided on developers. A verdict is on one version of a record, and stands until `ended_at` or
 * `expires_at`. Triggers end it: `follow_kyc_record` and its neighbours (db/migrations/0001_functions.sql).
 */
export const kycVerdicts = pgTable(
  'kyc_verdicts',
  {
    verdict_id: bigserial({ mode: 'number' }).primaryKey(),
    application_id: applicationId(),
    /** The version that it stands on. A version that changes only `cp_short_name` takes the place of the one before. */
    record_id: uuid().notNull(),
    verdict: text({ enum: VERDICTS }).notNull(),
    /** For operators. */
    reason: text().notNull(),
    /** What the application's developer reads. */
    text: text(),
    decided_by: text().notNull(),
    decided_at: moment('decided_at').notNull().defaultNow(),
    expires_at: moment('expires_at').notNull(),
    ended_at: moment('ended_at'),
    ended_as: text({ enum: VERDICT_ENDINGS }),
  },
  (table) => [
    uniqueIndex('kyc_verdicts_one_open').on(table.application_id).where(sql`${table.ended_at} is null`),
    index('kyc_verdicts_application').on(table.application_id, table.verdict_id),
    index('kyc_verdicts_expires').on(table.expires_at).where(sql`${table.ended_at} is null`),
    isOneOf('kyc_verdicts_known', table.verdict, VERDICTS),
    isOneOf('kyc_verdicts_ended_as', table.ended_as, VERDICT_ENDINGS),
    areCounts('kyc_verdicts_counts', table.verdict_id),
    areShort('kyc_verdicts_texts', [table.reason, table.text, table.decided_by]),
    areTimes('kyc_verdicts_times', table.decided_at, table.expires_at, table.ended_at),
    check('kyc_verdicts_ended', sql`(${table.ended_at} is null) = (${table.ended_as} is null)`),
  ],
);

/** Rules of decisions that hold for every process: one row, which `migrate` writes from the environment. */
export const decisionRules = pgTable(
  'decision_rules',
  {
    is_single: boolean().primaryKey().default(true),
    /** GAMES_NEED_VERDICT */
    games_need_verdict: boolean().notNull().default(false),
    /** REVIEW_TARGET */
    review_target_ms: bigint({ mode: 'number' }).notNull().default(172_800_000),
  },
  (table) => [check('decision_rules_one', sql`${table.is_single}`)],
);
