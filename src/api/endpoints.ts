/** The endpoints of the operator API: one for each operation and each list. Their definitions say what each does. */
import { z } from 'zod';
import { operatorActor } from '#db/queries/audit.ts';
import { findGame, findRevision } from '#db/queries/games.ts';
import { ApiError } from '#src/api/api-error.ts';
import type { TokenCaller } from '#src/api/authenticate.ts';
import { auditTime, gameDetailSchema } from '#src/contract/platform.ts';
import type { PlatformFailure } from '#src/contract/platform-codes.ts';
import { namesOfRoles, RIGHTS, type Right } from '#src/contract/roles.ts';
import { streamRequestSchema, streamSchema } from '#src/contract/stream.ts';
import { NotFoundError } from '#src/errors.ts';
import type { FormatAuditTime } from '#src/events/document.ts';
import { GonePlaceError, listStream } from '#src/events/read-stream.ts';
import { LISTS } from '#src/lists/index.ts';
import type { AnyList } from '#src/lists/list.ts';
import { readList } from '#src/lists/read.ts';
import { operations } from '#src/operations/index.ts';
import { operate } from '#src/operations/operate.ts';
import type { AnyOperation, Caller, Platform } from '#src/operations/operation.ts';
import { requireRole } from '#src/operations/rights.ts';

/** What the operator API works with. */
export type ApiPlatform = Platform & { formatAuditTime: FormatAuditTime };

export type Endpoint = {
  /** The name of its operation or list: `<subject>.<verb>`. */
  name: string;
  path: string;
  title: string;
  /** Who may call it. */
  who: string;
  request: z.ZodType;
  /** The schema of `data`. Undefined if the endpoint refuses every token. */
  answer: z.ZodType | undefined;
  /** Failures beside those of every endpoint. */
  failures: PlatformFailure[];
  /** Its statements may take minutes. */
  isLong: boolean;
  run(body: unknown, caller: Caller, platform: ApiPlatform): Promise<unknown>;
};

const pathOf = (name: string): string => `/operator-api/${name.replace('.', '/').replaceAll('_', '-')}`;

/** Returns the operator who calls. @throws ApiError forbidden for an application's token */
export const operatorOf = ({ login, roles, token_id }: TokenCaller): Caller => {
  if (login === null)
    throw new ApiError('forbidden', "This operation takes an operator's token, not an application's.");
  return { actor: operatorActor(login), roles, token_id };
};

const APPROVAL = {
  approval_id: z
    .guid()
    .optional()
    .describe('The id of the approved request, if the operation requires a second person.'),
};

const takesRole = (right: Right): string => `Takes the role ${namesOfRoles(RIGHTS[right])}.`;

const whoMay = ({ right }: AnyOperation): string => {
  if (right === 'own' || right === 'system' || right === 'application')
    return 'Every operator, for their own account.';
  if (typeof right === 'function') return 'The role depends on the input.';
  return takesRole(right);
};

/** Refuses unknown fields, because a machine would not notice that a misspelt one was ignored. */
const toStrict = (input: z.ZodType, more: z.ZodRawShape = {}): z.ZodObject => {
  if (input instanceof z.ZodObject) return input.safeExtend(more).strict();
  throw new Error(`the input of an operation is an object or a discriminated union, not ${input.type}`);
};

const toRequest = (input: z.ZodType, more?: z.ZodRawShape): z.ZodType => {
  if (!(input instanceof z.ZodDiscriminatedUnion)) return toStrict(input, more);
  const { discriminator, error } = input.def;
  const [first, ...others] = input.options.map((each) => toStrict(each as z.ZodType, more));
  return z.discriminatedUnion(discriminator, [first as z.ZodObject, ...others], {
    error: error as z.core.$ZodErrorMap,
  });
};

const toEndpoint = (operation: AnyOperation): Endpoint => {
  const { name, title, answer, secondPerson, notByToken, knownBy, input, isLong = false } = operation;
  const refusesTokens = notByToken !== undefined || knownBy === 'session';
  if (!refusesTokens && answer === undefined) throw new Error(`${name} has no answer`);
  return {
    name,
    path: pathOf(name),
    title,
    who: refusesTokens
      ? `Refuses tokens: an operator does this ${notByToken ?? 'signed in'}.`
      : whoMay(operation),
    request: toRequest(input, secondPerson && APPROVAL),
    answer: refusesTokens ? undefined : answer,
    failures: ['secondPerson', 'notFound', 'conflict'],
    isLong,
    run: async (body, caller, platform) => {
      const final = await operate(operation, body as never, caller, platform);
      const refusal = operation.refusal?.(final);
      if (refusal !== undefined) throw new ApiError('conflict', refusal);
      return final;
    },
  };
};

/** Most characters of a cursor, which may contain an encoded id of 512 characters, a name and reasons. */
const CURSOR_MAX = 16_384;

/** Rows of a page. */
const LIMIT = { max: 1_000, byDefault: 100 };

const toListEndpoint = (list: AnyList): Endpoint => {
  const { name, nouns, right, sorts, order, row, found, document = (each: object) => each } = list;
  const filter = list.filter.strict();
  const mayBeAbsent = filter.safeParse({}).success;
  const title = `List ${nouns[1]}`;
  const best = found === undefined ? '' : ` A search finds the best ${found}, in an order of its own.`;
  const orders = sorts.flatMap((sort) => [sort, `-${sort}`]);
  const request = z.strictObject({
    filter: mayBeAbsent ? filter.optional() : filter,
    sort:
      sorts.length === 0
        ? z.string().optional().describe('The order is fixed.')
        : z
            .enum(orders, `must be one of ${orders.join(', ')}`)
            .optional()
            .describe(`"-": descending. By default ${order}.${best}`),
    limit: z.int().min(1).max(LIMIT.max).optional().describe(`Rows, at most. By default ${LIMIT.byDefault}.`),
    cursor: z
      .string()
      .max(CURSOR_MAX)
      .optional()
      .describe('`next` of the page before, with the same filter and sort.'),
  });
  return {
    name,
    path: pathOf(name),
    title,
    who: takesRole(right),
    request,
    answer: z.object({
      list: z.array(row),
      total: z
        .int()
        .nullable()
        .describe('Rows of the whole list; 10001: more than 10,000. Null: not counted.'),
      next: z
        .string()
        .nullable()
        .describe(
          'The cursor of the next page; null on the last. A page may have fewer rows than the limit, that of a search none.',
        ),
    }),
    failures: [],
    isLong: false,
    run: async (body, { roles }, { sql, producer }) => {
      requireRole(title, right, roles);
      const { filter: given = {}, limit = LIMIT.byDefault, ...page } = request.parse(body);
      const { rows, total, cursor } = await readList(list, { sql, producer }, given, { ...page, limit });
      return { list: rows.map(document), total, next: cursor ?? null };
    },
  };
};

const STREAM_TITLE = "Read the platform's stream of events";

/** The platform's stream. Its pages have no filter and no sort, because a reader continues at `next` for ever. */
const streamEndpoint: Endpoint = {
  name: 'event.list',
  path: pathOf('event.list'),
  title: STREAM_TITLE,
  who: takesRole('view'),
  request: streamRequestSchema.strict(),
  answer: streamSchema,
  failures: ['goneEvent'],
  isLong: false,
  run: async (body, { roles }, { sql, formatAuditTime }) => {
    requireRole(STREAM_TITLE, 'view', roles);
    try {
      return await listStream(sql, streamRequestSchema.parse(body), formatAuditTime);
    } catch (error) {
      throw error instanceof GonePlaceError
        ? new ApiError('goneEvent', error.message, { cause: error })
        : error;
    }
  },
};

const SHOW_TITLE = 'Read one game, with the content of one of its revisions';

const showRequest = z.strictObject({
  game_id: z.guid().toLowerCase(),
  revision: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .optional()
    .describe('Of the content. By default the present one.'),
});

/** The endpoint from which readers of the stream read the game that an event names. */
const showEndpoint: Endpoint = {
  name: 'game.show',
  path: pathOf('game.show'),
  title: SHOW_TITLE,
  who: takesRole('view'),
  request: showRequest,
  answer: gameDetailSchema.extend({
    application_id: z.string(),
    application_game_id: z.string(),
    revision: z.int().describe('Of this content.'),
    audit_time: auditTime,
    withdrawn: z.boolean().describe('Its application no longer lists it.'),
  }),
  failures: ['notFound'],
  isLong: false,
  run: async (body, { roles }, { sql, formatAuditTime }) => {
    requireRole(SHOW_TITLE, 'view', roles);
    const { game_id, revision } = showRequest.parse(body);
    const game = await findGame(sql, game_id);
    const content = game && (await findRevision(sql, game_id, revision ?? game.revision));
    if (game === undefined || content === undefined)
      throw new NotFoundError('game', revision === undefined ? game_id : `${game_id}@${revision}`);
    return {
      ...game,
      ...content,
      audit_time: formatAuditTime(game.audit_time),
      withdrawn: game.withdrawn_at !== null,
    };
  },
};

/** Every endpoint, in the order of their paths. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...[...operations.values()]
    .filter(({ right }) => right !== 'system' && right !== 'application')
    .map(toEndpoint),
  ...LISTS.map(toListEndpoint),
  streamEndpoint,
  showEndpoint,
].toSorted((a, b) => (a.path < b.path ? -1 : 1));
