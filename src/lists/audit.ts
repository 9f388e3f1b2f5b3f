import { z } from 'zod';
import { type AuditRow, listAuditPage } from '#db/queries/audit.ts';
import { ACTOR_KINDS, AUDIT_ACTIONS, AUDIT_SUBJECTS } from '#src/contract/audit.ts';
import { time } from '#src/contract/documents.ts';
import { isUuid } from '#src/lib/uuid.ts';
import { ACTOR, WHO } from '#src/lists/columns.ts';
import { exactly, onlyApplication, parsed, since, until } from '#src/lists/filters.ts';
import { column, defineList, type Link } from '#src/lists/list.ts';

const parseSubject = (text: string): string => {
  if (AUDIT_SUBJECTS.some((kind) => text.startsWith(`${kind}:`) && text.length > kind.length + 1))
    return text;
  throw new RangeError(
    `Give it as audit list prints it, such as application:acme. Kinds: ${AUDIT_SUBJECTS.join(', ')}.`,
  );
};

/** @returns the actions of this name: one, or without its subject every `<subject>.<verb>` */
const parseAction = (name: string): string[] => {
  const found = AUDIT_ACTIONS.filter((action) => action === name || action.endsWith(`.${name}`));
  if (found.length > 0) return found;
  throw new RangeError(`There is no such action. Actions: ${AUDIT_ACTIONS.join(', ')}.`);
};

const LINKED = ['application', 'game', 'run'] as const;

/** The page of a subject `<kind>:<id>`. */
const toSubject = (subject: string): Link | null => {
  const [, kind = '', id = ''] = /^([a-z_]+):(.+)$/s.exec(subject) ?? [];
  const to = LINKED.find((each) => each === kind);
  return to === undefined ? null : { to, id };
};

const DETAILS_SHOWN = 400;

/** Values of one list that an entry shows. */
const VALUES_SHOWN = 3;

/** Levels of nested lists and objects that an entry shows. Ours have two; a stolen login may write thousands. */
const LEVELS_SHOWN = 4;

const formatValue = (value: unknown, levels = LEVELS_SHOWN): string => {
  if (typeof value === 'object' && value !== null) {
    if (levels === 0) return '…';
    const format = (each: unknown) => formatValue(each, levels - 1);
    if (!Array.isArray(value))
      return Object.entries(value)
        .map(([name, each]) => `${name.replaceAll('_', ' ')} ${format(each)}`)
        .join(', ');
    const rest = value.length - VALUES_SHOWN;
    const shown = value.slice(0, VALUES_SHOWN).map(format).join(', ');
    return rest > 0 ? `${shown} and ${rest} more` : shown;
  }
  return isUuid(String(value)) ? `${String(value).slice(0, 8)}…` : String(value ?? 'none');
};

/** Details as words: `address 127.0.0.1 · by password`. The JSON document has them whole. */
export const formatDetails = ({ details }: Pick<AuditRow, 'details'>): string | null => {
  const words = Object.entries(details)
    .filter(([name]) => name !== 'audit_id')
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${formatValue(value)}`);
  return words.join(' · ').slice(0, DETAILS_SHOWN) || null;
};

const AT = column<AuditRow>({ key: 'at', title: 'When', kind: 'time' });

/** An entry in JSON, with its hash in the chain in hex. */
const withHash = ({ hash, ...entry }: AuditRow) => ({ ...entry, hash: Buffer.from(hash).toString('hex') });

const ENTRY = z.object({
  entry_id: z.int(),
  at: time,
  actor: z.string(),
  actor_kind: z.enum(ACTOR_KINDS),
  os_user: z.string().nullable(),
  // A stolen login, or a later release, may write another one.
  action: z.string().describe('Such as game.pass.'),
  subject: z.string(),
  reason: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  hash: z.string().describe('SHA-256 of the chain up to this entry.'),
});

const actor = () => exactly({ name: 'actor', title: 'Person', description: 'only of this person' });

export const auditList = defineList({
  name: 'audit.list',
  nouns: ['entry', 'entries'],
  right: 'read_audit',
  row: ENTRY,
  filter: z.object({
    actor: actor(),
    action: parsed(parseAction, {
      name: 'action',
      title: 'Action',
      description: 'only this action, such as game.pass, or pass for every subject',
      values: AUDIT_ACTIONS,
    }),
    subject: parsed(parseSubject, {
      name: 'subject',
      title: 'Subject',
      description: 'only of this subject, such as application:acme',
    }),
    since: since(),
    until: until(),
  }),
  sorts: ['entry_id'],
  order: '-entry_id',
  columns: [
    { key: 'entry_id', title: '#', kind: 'number', sort: 'entry_id', width: 'wide' },
    AT,
    ACTOR,
    WHO,
    { key: 'action', kind: 'word' },
    { key: 'subject', title: 'On', kind: 'id', link: ({ subject }) => toSubject(subject) },
    { key: 'reason', title: 'Why, and what', note: formatDetails },
  ],
  empty: 'No entries.',
  noMatch: 'No entry matches.',
  document: withHash,
  read: listAuditPage,
});

/** Who saw a KYC record in clear. */
export const revealList = defineList({
  name: 'kyc.reveals',
  nouns: ['reveal', 'reveals'],
  right: 'kyc',
  row: ENTRY,
  filter: z.object({ application_id: onlyApplication(), actor: actor(), since: since(), until: until() }),
  sorts: ['entry_id'],
  order: '-entry_id',
  columns: [
    { ...AT, sort: 'entry_id' },
    ACTOR,
    WHO,
    {
      key: 'application_id',
      title: 'Developer',
      kind: 'id',
      value: ({ subject }) => subject.slice('application:'.length),
      link: ({ subject }) => toSubject(subject),
    },
    {
      key: 'second_person',
      value: ({ details }) => (typeof details.second_person === 'string' ? details.second_person : null),
    },
    { key: 'reason' },
  ],
  empty: 'No record was revealed.',
  noMatch: 'No reveal matches.',
  document: withHash,
  read: (sql, { application_id, ...filter }, page) => {
    const subject = application_id && `application:${application_id}`;
    return listAuditPage(sql, { ...filter, subject, action: 'kyc.reveal' }, page);
  },
});
