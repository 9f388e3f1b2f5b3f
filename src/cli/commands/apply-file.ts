/** The file of `apply`: what applications and reasons should be. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { nameInput, readInput } from '#src/cli/kit/read-input.ts';
import { PROBLEMS_SHOWN } from '#src/cli/kit/read-lines.ts';
import { isOwnSecret } from '#src/config-secrets.ts';
import { accessToken, applicationId } from '#src/contract/application-settings.ts';
import { ISSUE_WORDS } from '#src/contract/issue-words.ts';
import { coerceError, UsageError } from '#src/errors.ts';
import { addApplication } from '#src/operations/applications.ts';
import { addReason } from '#src/operations/reasons.ts';
import { hasApiToken } from '#src/rules/api-token.ts';

const TOKEN = {
  /** Relative to the file that names it; in stdin, to the working directory. */
  access_token_file: z.string().min(1).optional(),
  access_token_env: z.string().min(1).optional(),
};

/** Its address for events is not part of it, because its secret is shown once. */
const application = addApplication.input
  .omit({ application_id: true, access_token: true, events_webhook: true })
  .extend(TOKEN)
  .strict()
  .refine(
    ({ access_token_file, access_token_env }) =>
      access_token_file === undefined || access_token_env === undefined,
    { path: ['access_token_env'], message: 'is given beside access_token_file: keep one' },
  );

const fileSchema = z.strictObject({
  applications: z.record(applicationId, application).optional(),
  reasons: z.record(addReason.input.shape.code, addReason.input.omit({ code: true }).strict()).optional(),
});
type File = z.infer<typeof fileSchema>;

export type WantedApplication = {
  application_id: string;
  /** With defaults, as `addApplication` takes them. */
  settings: z.infer<typeof application>;
  /** As the file has them, with durations as texts. */
  given: Record<string, unknown>;
  /** Reads its access token. Undefined: the file names none. */
  readToken: (() => Promise<string>) | undefined;
};
/** Undefined: the file does not have this part. */
export type Wanted = {
  applications: WantedApplication[] | undefined;
  reasons: { code: string; label: string; text: string }[] | undefined;
};

/** Converts the document. @throws UsageError for aliases that would fill the memory */
const toPlain = (path: string, document: Document): ReturnType<Document['toJS']> => {
  try {
    return document.toJS();
  } catch (error) {
    throw new UsageError(`${path}: ${coerceError(error).message}. Nothing was changed.`, { cause: error });
  }
};

/** Finds a key that its map already has. @returns its offset */
const findRepeatedKey = (document: Document): number | undefined => {
  let found: number | undefined;
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) {
          found = key.range?.[0];
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
};

const PARTS = ['applications', 'reasons'] as const;

/** Parses a file. @throws UsageError that names the file, the line and the field */
const parseFile = (
  path: string,
  text: string,
): { file: File; plain: { applications?: Record<string, object> } } => {
  const lines = new LineCounter();
  // The library compares each key with all before it: 40,000 applications would take minutes.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  const refuse = (offset: number, why: string): never => {
    throw new UsageError(`${path}, line ${lines.linePos(offset).line}: ${why}`);
  };
  const [broken] = document.errors;
  if (broken !== undefined) refuse(broken.pos[0], broken.message.split('\n')[0] ?? '');
  const repeated = findRepeatedKey(document);
  if (repeated !== undefined) refuse(repeated, 'Map keys must be unique.');
  const plain = toPlain(path, document) ?? {};
  // zod leaves such a key of a record out without a word.
  if (PARTS.some((part) => Object.hasOwn(plain[part] ?? {}, '__proto__')))
    throw new UsageError(`${path}: __proto__ is no id. Nothing was changed.`);
  const parsed = fileSchema.safeParse(plain, ISSUE_WORDS);
  if (parsed.success) return { file: parsed.data, plain };
  const lineOf = (fields: readonly PropertyKey[]): number => {
    for (let depth = fields.length; depth >= 0; depth -= 1) {
      const parent = depth === 0 ? document.contents : document.getIn(fields.slice(0, depth - 1), true);
      const key = isMap(parent)
        ? parent.items.find((pair) => isNode(pair.key) && String(pair.key) === String(fields[depth - 1]))?.key
        : undefined;
      if (isNode(key) && key.range) return lines.linePos(key.range[0]).line;
    }
    return 1;
  };
  const wrong = parsed.error.issues.map((issue) => {
    const { path: fields, message: what } = issue;
    const [unknown] = issue.code === 'unrecognized_keys' ? issue.keys : [];
    return { fields, what, at: unknown === undefined ? fields : [...fields, unknown] };
  });
  // The line of a field is searched for from the start of its part.
  const problems = wrong
    .slice(0, PROBLEMS_SHOWN)
    .map(
      ({ fields, what, at }) =>
        `${path}, line ${lineOf(at)}: ${fields.map(String).join('.') || 'the file'} ${what}`,
    );
  const more = wrong.length > problems.length ? [`and ${wrong.length - problems.length} more`] : [];
  throw new UsageError([...problems, ...more, 'Nothing was changed.'].join('\n'));
};

/** Longer than any access token. */
const TOKEN_FILE_BYTES = 16_384;

/**
 * Reads the beginning of a file that an untrusted file names, and waits for nothing, because a pipe would block this process,
 * and a device never ends.
 */
const readTokenFile = async (path: string): Promise<string> => {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(TOKEN_FILE_BYTES + 1),
    0,
    TOKEN_FILE_BYTES + 1,
    null,
  );
  return buffer.toString('utf8', 0, bytesRead);
};

/** The places from which access tokens are read, and the home with secrets of the platform. */
type Sources = { directory: string; env: NodeJS.ProcessEnv; home: string };

/** Every object has properties such as `__proto__`, which are no variables. */
const readVariable = (env: NodeJS.ProcessEnv, name = ''): string =>
  (Object.hasOwn(env, name) ? env[name] : undefined) ?? '';

/** Returns a function that reads the access token of an application. */
const tokenReader = (
  application_id: string,
  { access_token_file: file, access_token_env: variable }: WantedApplication['settings'],
  { directory, env, home }: Sources,
): (() => Promise<string>) | undefined => {
  if (file === undefined && variable === undefined) return undefined;
  const source = file === undefined ? `access_token_env ${variable}` : `access_token_file ${file}`;
  const fail = (problem: string, cause?: unknown): never => {
    throw new UsageError(`${application_id}: ${source} ${problem}. Nothing was changed.`, { cause });
  };
  return async () => {
    const text =
      file === undefined
        ? readVariable(env, variable)
        : await readTokenFile(resolve(directory, file)).catch((error: NodeJS.ErrnoException) =>
            fail(`cannot be read (${error.code})`, error),
          );
    const { data } = accessToken.safeParse(text.trim());
    if (data === undefined)
      return fail(text === '' ? 'is empty' : 'is not one line of visible ASCII characters');
    // Who has it does here what its operator or its application may do.
    if (hasApiToken(data)) return fail('is an API token of the platform');
    return isOwnSecret(data, env, home) ? fail('is a setting of the platform') : data;
  };
};

const entriesOf = <Value>(part: Record<string, Value> | undefined) => part && Object.entries(part);

/** Reads a file, or stdin. @throws UsageError that names each wrong field with its line */
export const readWanted = async (
  path: string,
  stdin: Readable,
  { env, home }: Omit<Sources, 'directory'>,
): Promise<Wanted> => {
  const { file, plain } = parseFile(nameInput(path), await readInput(path, stdin));
  const sources = { directory: dirname(path), env, home };
  return {
    applications: entriesOf(file.applications)?.map(([application_id, settings]) => ({
      application_id,
      settings,
      given: { ...plain.applications?.[application_id] },
      readToken: tokenReader(application_id, settings, sources),
    })),
    reasons: entriesOf(file.reasons)?.map(([code, reason]) => ({ code, ...reason })),
  };
};
