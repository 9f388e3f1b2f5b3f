/**
 * The filters of lists: each schema with the control by which a person gives it, so that every front can offer it and
 * check it.
 */
import { z } from 'zod';
import { applicationId } from '#src/contract/application-settings.ts';
import { sinceTime } from '#src/contract/since.ts';
import { storableText } from '#src/contract/text.ts';
import { coerceError } from '#src/errors.ts';

/** Tables whose ids people cut short, because they are long. */
export type ShortId = 'games' | 'sync_runs' | 'game_audits';

/** How a person gives a filter. */
export type Control = {
  kind: 'choice' | 'text' | 'application' | 'time' | 'flag' | 'id';
  /** The name of the option on the command line, and of the parameter in the address of a page. */
  name: string;
  /** Its label on a page. */
  title: string;
  /** Which rows remain, as the command line says it: `only runs of this outcome`. */
  description: string;
  /** The values of a choice, or those that a page offers for a text. */
  values?: readonly string[];
  /** The command line takes it as an argument. */
  isArgument?: true;
  /** The table in which the command line looks up the beginning of an id. */
  table?: ShortId;
};

/** The controls of filters, by schema. */
const controls = z.registry<Control>();

/** The control of a key of a filter. */
export const controlOf = (filter: z.ZodObject, key: string): Control => {
  const control = controls.get(filter.shape[key] as z.ZodType);
  if (control === undefined)
    throw new Error(`the filter ${key} has no control: make it by src/lists/filters.ts`);
  return control;
};

/** The controls of a filter, by key. */
export const controlsOf = (filter: z.ZodObject): [key: string, Control][] =>
  Object.keys(filter.shape).map((key) => [key, controlOf(filter, key)]);

/** Must the reader give this key? */
export const isRequired = (filter: z.ZodObject, key: string): boolean =>
  !(filter.shape[key] as z.ZodType).safeParse(undefined).success;

const TEXT_MAX = 512;
const text = storableText(TEXT_MAX).min(1, 'is empty');

/** One of these words. */
export const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  control: Omit<Control, 'kind' | 'values'>,
) =>
  z
    .enum(values)
    .optional()
    .register(controls, { ...control, kind: 'choice', values });

/** The control of the outcome of an application's latest run. */
export const LAST_OUTCOME = {
  name: 'outcome',
  title: 'Outcome',
  description: 'only applications whose latest run had this outcome',
} as const;

/**
 * A text that the rows have in some of their columns, in any case.
 * @param where the columns, as the end of a sentence
 * @param title its label on a page
 */
export const search = (where: string, title?: string) =>
  text.trim().min(1, 'is empty').optional().register(controls, searchControl(where, title));

/** A search with the white space at its ends, which an id of an application may have. */
export const searchAsTyped = (control: Pick<Control, 'title' | 'description'>) =>
  text.optional().register(controls, { ...control, kind: 'text', name: 'search' });

const searchControl = (where: string, title = 'Search'): Control => ({
  kind: 'text',
  name: 'search',
  title,
  description: `only those with this text in ${where}, in any case`,
});

/** A text that a column equals. */
export const exactly = (control: Omit<Control, 'kind'>) =>
  text
    .trim()
    .min(1, 'is empty')
    .optional()
    .register(controls, { ...control, kind: 'text' });

/** A transformation by a function whose error is the message. */
const parsedBy =
  <Parsed>(parse: (given: string) => Parsed) =>
  (given: string, { addIssue }: z.RefinementCtx): Parsed => {
    try {
      return parse(given);
    } catch (error) {
      addIssue(coerceError(error).message);
      return z.NEVER;
    }
  };

/** A text with a form of its own. @param parse throws an error that says what to give */
export const parsed = <Parsed>(parse: (given: string) => Parsed, control: Omit<Control, 'kind'>) =>
  text
    .trim()
    .transform(parsedBy(parse))
    .optional()
    .register(controls, { ...control, kind: 'text' });

const APPLICATION = { kind: 'application', name: 'application', title: 'Application' } as const;

/** Rows of one application. */
export const ofApplication = (description: string) =>
  applicationId.optional().register(controls, { ...APPLICATION, description });

/** Rows of one application, which the command line takes as an argument. */
export const onlyApplication = () =>
  applicationId
    .optional()
    .register(controls, { ...APPLICATION, description: 'only this application', isArgument: true });

/** Rows of one application, which must be given. */
export const theApplication = () =>
  applicationId
    .clone()
    .register(controls, { ...APPLICATION, description: 'the application', isArgument: true });

/** Rows of one run, or another thing with an id of the platform, which must be given. */
export const theId = (control: Omit<Control, 'kind' | 'isArgument'>) =>
  z
    .guid()
    .toLowerCase()
    .register(controls, { ...control, kind: 'id', isArgument: true });

const time = (control: Omit<Control, 'kind'>) =>
  z
    .union([z.date(), sinceTime], 'must be a time such as 2026-01-31T12:00:00Z, or how long ago: 24h')
    .optional()
    .register(controls, { ...control, kind: 'time' });

/** Rows of this time and later. */
export const since = () =>
  time({
    name: 'since',
    title: 'Since',
    description: 'only from this time on (local, if it names no zone), or this long ago: 24h',
  });

/** Rows before this time. */
export const until = () =>
  time({ name: 'until', title: 'Until', description: 'only before this time, or this long ago' });

export const flag = (control: Omit<Control, 'kind'>) =>
  z
    .boolean()
    .optional()
    .register(controls, { ...control, kind: 'flag' });
