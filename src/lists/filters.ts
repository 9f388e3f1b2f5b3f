/** The filters of lists: what each front needs to offer and to check them. */
import { z } from 'zod';
import { applicationId } from '#src/contract/application-settings.ts';
import { storableText } from '#src/contract/text.ts';
import { parseSince } from '#src/lib/since.ts';

/** How a person gives a filter. */
export type Control = {
  kind: 'choice' | 'text' | 'application' | 'time' | 'flag';
  /** Of the command line's option and of the address of a page. */
  name: string;
  /** Its label on a page. */
  title: string;
  /** What it leaves, on the command line: `only runs of this outcome`. */
  description: string;
  /** Of a choice: the values. */
  values?: readonly string[];
  /** The command line takes it as an argument. */
  isArgument?: true;
};

/** The controls of filters, by schema. */
export const controls = z.registry<Control>();

/** The control of a key of a filter. */
export const controlOf = (filter: z.ZodObject, key: string): Control => {
  const control = controls.get(filter.shape[key] as z.ZodType);
  if (control === undefined)
    throw new Error(`the filter ${key} has no control: make it by src/lists/filters.ts`);
  return control;
};

const TEXT_MAX = 512;

/** One of these words. */
export const choice = <const Values extends readonly [string, ...string[]]>(
  values: Values,
  control: Omit<Control, 'kind' | 'values'>,
) =>
  z
    .enum(values)
    .optional()
    .register(controls, { ...control, kind: 'choice', values });

/** A text that the rows have in some of their columns. @param where the columns, as the end of a sentence */
export const search = (where: string) =>
  storableText(TEXT_MAX)
    .trim()
    .min(1)
    .optional()
    .register(controls, {
      kind: 'text',
      name: 'search',
      title: 'Search',
      description: `only those with this text in ${where}, in any case`,
    });

/** A text that a column equals. */
export const exactly = (control: Omit<Control, 'kind'>) =>
  storableText(TEXT_MAX)
    .trim()
    .min(1)
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

const toTime = (text: string, { addIssue }: z.RefinementCtx): Date => {
  try {
    return parseSince(text);
  } catch (error) {
    addIssue((error as Error).message);
    return z.NEVER;
  }
};

const time = (control: Omit<Control, 'kind'>) =>
  z
    .union([z.date(), z.string().transform(toTime)])
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
