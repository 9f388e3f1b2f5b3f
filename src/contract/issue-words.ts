import { z } from 'zod';

const TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
  null: 'null',
};

const FORMATS: Record<string, string> = {
  guid: 'an id, such as 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b',
  uuid: 'an id, such as 019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b',
  datetime: 'a time such as 2026-01-31T12:00:00Z',
};

const UNITS: Record<string, string> = {
  string: ' characters',
  array: ' entries',
  set: ' entries',
  map: ' entries',
};

/** Most unknown fields that a message names, and most characters of a name, because the caller chooses the names. */
const NAMED = { fields: 5, characters: 100 };

/** @param fields the fields of the object, if its schema lists them */
const describeUnknown = (keys: readonly string[], fields: readonly string[] | undefined): string => {
  const names = keys.slice(0, NAMED.fields).map((key) => key.slice(0, NAMED.characters));
  const more = keys.length > names.length ? ` and ${keys.length - names.length} more` : '';
  const known = fields === undefined ? '' : ` (fields: ${fields.join(', ')})`;
  return `has no field ${names.join(', ')}${more}${known}`;
};

const wordsOf = (issue: z.core.$ZodRawIssue): string | undefined => {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must ${issue.origin in UNITS ? 'have' : 'be'} at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    case 'too_big':
      return `must ${issue.origin in UNITS ? 'have' : 'be'} at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'invalid_format':
      return FORMATS[issue.format] === undefined
        ? `does not match ${issue.pattern ?? issue.format}`
        : `must be ${FORMATS[issue.format]}`;
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'unrecognized_keys':
      return describeUnknown(
        issue.keys,
        issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : undefined,
      );
    default:
      return undefined;
  }
};

/**
 * Messages for `safeParse`, for rules of a schema that have no message of their own. The caller puts the name of the field
 * before them. They never contain the value, but for the names of unknown fields.
 */
export const ISSUE_WORDS: z.core.ParseContext<z.core.$ZodIssue> = { error: wordsOf };
