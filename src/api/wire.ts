import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { z } from 'zod';
import { ApiError } from '#src/api/api-error.ts';
import { RET_CODE_SUCCESS, RET_MSG_SUCCESS } from '#src/contract/envelope.ts';
import { ISSUE_WORDS } from '#src/contract/issue-words.ts';
import { coerceError } from '#src/errors.ts';
import { findJsonExcess } from '#src/lib/json-excess.ts';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from '#src/rules/budgets.ts';

/** Largest request body, unless its route sets another. The operations need a few hundred bytes. */
export const BODY_MAX_BYTES = 16 * 1024;
/** Room for 100 ids of the greatest length, or for the longest text. */
export const LONG_BODY_MAX_BYTES = 64 * 1024;
/** Room for 10,000 addresses of packages. Only calls with an operator's token are read. */
export const OPERATOR_BODY_MAX_BYTES = 4 * 1024 * 1024;

export const JSON_UTF8 = 'application/json; charset=utf-8';

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

const EXCESS = `The body has more than ${MAX_JSON_VALUES} keys and values, or nests deeper than ${MAX_JSON_DEPTH} levels.`;

/**
 * @throws ApiError wrongContentType if the charset is not UTF-8, invalidJson if the bytes are not JSON in UTF-8,
 * invalidField if they have too many values, because a schema that refuses millions of them takes half a minute
 */
const parseJson = (contentType: string | undefined, bytes: Uint8Array): unknown => {
  const charset = CHARSET.exec(contentType ?? '')?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    throw new ApiError('wrongContentType');
  const invalidJson = (cause: unknown) => new ApiError('invalidJson', undefined, { cause });
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw invalidJson(cause);
  }
  if (findJsonExcess(text, { depth: MAX_JSON_DEPTH, values: MAX_JSON_VALUES }) !== undefined)
    throw new ApiError('invalidField', EXCESS);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
};

/** Most wrong fields that an error names, and most characters of a name, because the caller chooses the names. */
const NAMED = { issues: 20, characters: 100 };

const explainIssue = ({ code, path, message }: z.core.$ZodIssue): string => {
  if (path.length > 0) {
    const field = path.map((part) => String(part).slice(0, NAMED.characters)).join('.');
    // A message that is a sentence of its own follows a colon.
    return `${field}${/^[A-Z]/.test(message) ? ':' : ''} ${message}`;
  }
  if (code === 'unrecognized_keys') return `The body ${message}`;
  return code === 'invalid_type' ? 'The body must be a JSON object' : message;
};

/** Checks a body. @throws ApiError invalidJson if there is none, invalidField that names each wrong field */
export const checkBody = <Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> => {
  // Without body and Content-Type, Fastify calls no parser.
  if (body === undefined) throw new ApiError('invalidJson', 'The body is empty: send a JSON object.');
  const result = schema.safeParse(body, ISSUE_WORDS);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, NAMED.issues);
  throw new ApiError('invalidField', issues.map(explainIssue).join('; '));
};

const validate: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  (body) => {
    try {
      return { value: checkBody(schema, body) };
    } catch (error) {
      return { error: coerceError(error) };
    }
  };

/** Throws on a response that does not match its schema; the error becomes `fault`. */
const serialize: FastifySerializerCompiler<z.ZodType> = ({ schema }) => {
  return (response) => JSON.stringify(schema.parse(response));
};

/** Accepts only JSON in valid UTF-8, and validates requests and responses with the zod schemas of the routes. */
export const useStrictJson = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => parseJson(request.headers['content-type'], body),
  );
  app.setValidatorCompiler(validate);
  app.setSerializerCompiler(serialize);
};

/** The envelope of a success (section 2.1). */
export const success = <Data>(data: Data) => ({ ret_code: RET_CODE_SUCCESS, ret_msg: RET_MSG_SUCCESS, data });
