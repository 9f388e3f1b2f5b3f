import type { z } from 'zod';
import { type Case, type Finding, failed, passed } from '#src/check/case.ts';
import { at, explainIssue } from '#src/check/explain.ts';
import { nameSome } from '#src/check/quote.ts';
import type { Call, Session } from '#src/check/session.ts';

/** A row, a detail or a KYC record, and the call that returned it. `name` is safe to show. */
export type Item = { value: unknown; call: Call; name: string };
type Fault = { kind: Kind; what: string; item: Item };

/**
 * Refinements of src/contract/text.ts carry a code; every other issue of zod is a wrong type or size. `too_small` occurs
 * only for an empty id, which the platform refuses and the interface document allows, so it is a limit.
 */
const kindOf = (issue: z.core.$ZodIssue, value: unknown): Kind => {
  if (issue.code === 'invalid_type') return at(value, issue.path) === null ? 'null' : 'type';
  if (issue.code === 'custom') return issue.params?.code === 'not_http_url' ? 'url' : 'limit';
  return issue.code === 'too_big' || issue.code === 'too_small' ? 'limit' : 'type';
};

const faultsOf = (schema: z.ZodType, item: Item, subject: string): Fault[] =>
  (schema.safeParse(item.value).error?.issues ?? []).map((issue) => ({
    kind: kindOf(issue, item.value),
    what: explainIssue(issue, item.value, subject),
    item,
  }));

/** A finding names at most this many faults. */
const FAULTS_MAX = 4;

/** Reports each fault once, with how many items have it and which. */
const judgeFaults = (faults: readonly Fault[], count: number, items: string | null): Finding => {
  const [first] = faults;
  if (first === undefined) return passed;
  const whats = [...Map.groupBy(faults, ({ what }) => what)].map(([what, those]) => {
    const names = [...new Set(those.map(({ item }) => item))].map(({ name }) => name);
    return items === null ? what : `${what}: ${names.length} of ${count} ${items} (${nameSome(names)})`;
  });
  const rest = whats.length - FAULTS_MAX;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return failed(`${whats.slice(0, FAULTS_MAX).join('; ')}${more}`, first.item.call);
};

const CASES = {
  type: { name: 'field-types', rule: 'Every field is present and has its type.' },
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

/** The section and words of the interface document for each kind. `items`: the noun for several items, `subject`: for one. */
type RuleText = Record<Exclude<Kind, 'limit'>, readonly [section: string, quote: string]> & {
  items: string | null;
  subject: string;
};

/** One case for each kind of invalid field. */
export const fieldCases = (
  prefix: string,
  schema: z.ZodType,
  says: RuleText,
  read: (session: Session) => Promise<Item[]>,
  kinds: readonly Kind[] = ['type', 'null', 'url', 'limit'],
): Case[] =>
  kinds.map((kind) => {
    const [section, quote] = kind === 'limit' ? [null, undefined] : says[kind];
    return {
      name: `${prefix}.${CASES[kind].name}`,
      section,
      ...(quote !== undefined && { quote }),
      rule: CASES[kind].rule,
      check: async (session) => {
        const items = await read(session);
        const faults = items.flatMap((item) => faultsOf(schema, item, says.subject));
        return judgeFaults(
          faults.filter((fault) => fault.kind === kind),
          items.length,
          says.items,
        );
      },
    };
  });
