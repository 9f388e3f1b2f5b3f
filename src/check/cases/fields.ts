import type { z } from 'zod';
import { type Case, failed, passed, type Verdict } from '#src/check/case.ts';
import type { Call, Session } from '#src/check/session.ts';

/** A row, a detail or a KYC record, and the call that returned it. */
export type Item = { value: unknown; call: Call; where: string };
type Fault = { kind: Kind; where: string; what: string; call: Call };

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value,
  );

/**
 * Refinements of src/contract/text.ts carry a code; every other issue of zod is a wrong type or size. `too_small`
 * occurs only for an empty id, which the platform refuses and the interface document allows: therefore it is a limit.
 */
const kindOf = (issue: z.core.$ZodIssue, value: unknown): Kind => {
  if (issue.code === 'invalid_type') return at(value, issue.path) === null ? 'null' : 'type';
  if (issue.code === 'custom') return issue.params?.code === 'not_http_url' ? 'url' : 'limit';
  return issue.code === 'too_big' || issue.code === 'too_small' ? 'limit' : 'type';
};

const faultsOf = (schema: z.ZodType, { value, call, where }: Item): Fault[] => {
  const parsed = schema.safeParse(value);
  return (parsed.error?.issues ?? []).map((issue) => {
    const what =
      issue.code === 'invalid_type' && at(value, issue.path) === undefined ? 'is missing' : issue.message;
    return { kind: kindOf(issue, value), where: [where, ...issue.path].join('.'), what, call };
  });
};

/** A problem names the first fault, and this many others by their paths. */
const OTHERS_NAMED = 9;

const judgeFaults = (faults: readonly Fault[]): Verdict => {
  const [first] = faults;
  if (first === undefined) return passed;
  const others = faults.slice(1, OTHERS_NAMED + 1).map(({ where }) => where);
  const rest = faults.length - 1 - others.length;
  const also = others.length > 0 ? `; also ${others.join(', ')}` : '';
  return failed(`${first.where}: ${first.what}${also}${rest > 0 ? ` and ${rest} more` : ''}`, first.call);
};

const CASES = {
  type: {
    name: 'field-types',
    rule: 'Every field is present and has the type that this section of the interface document gives.',
  },
  null: {
    name: 'empty-not-null',
    rule: 'A field without a value is an empty string or an empty array [], never null.',
  },
  url: { name: 'urls', rule: 'Icons, pictures and videos are URLs; the platform accepts http and https.' },
  limit: {
    name: 'limits',
    rule: 'The platform accepts at most 512 characters in game_id, game_name and cp_id, 65,536 in game_info, 2,048 in every other text and URL, and 100 URLs in a list. It accepts no empty game_id or cp_id, no U+0000 and no lone surrogate.',
  },
};
type Kind = keyof typeof CASES;

/** One case for each kind of invalid field. */
export const fieldCases = (
  prefix: string,
  section: string,
  schema: z.ZodType,
  items: (session: Session) => Promise<Item[]>,
  kinds: readonly Kind[] = ['type', 'null', 'url', 'limit'],
): Case[] =>
  kinds.map((kind) => ({
    name: `${prefix}.${CASES[kind].name}`,
    section: kind === 'limit' ? null : section,
    rule: CASES[kind].rule,
    check: async (session) => {
      const faults = (await items(session)).flatMap((item) => faultsOf(schema, item));
      return judgeFaults(faults.filter((fault) => fault.kind === kind));
    },
  }));
