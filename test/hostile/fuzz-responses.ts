// Responses of all three operations with mutated bytes: npm run fuzz. Takes the number of responses as its argument.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import {
  applicationGameDetailSchema,
  applicationGameListSchema,
  kycRecordSchema,
} from '#src/contract/application.ts';
import { OPERATIONS, type Operation } from '#src/contract/words.ts';
import { isCallError } from '#src/egress/errors.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { MAX_BODY_BYTES } from '#src/rules/budgets.ts';
import { readPage } from '#src/rules/listing.ts';
import { contentHash, toGameContent } from '#src/rules/mapping.ts';
import { readData, readEnvelope } from '#src/webhooks/read-response.ts';

/** CPU time that one response may cost. */
const RULE = identityRule([]);
const CPU_MAX_MS = 250;

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.webUrl(),
  fc.constantFrom('', '\u0000', '\ud800'),
);
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.jsonValue({ maxDepth: 4 }),
  fc.array(text, { maxLength: 120 }),
);
const row = fc.record({ game_id: value, game_name: value, game_icon: value }, { requiredKeys: [] });
const DATA: Record<Operation, fc.Arbitrary<unknown>> = {
  query_game_list: fc.record({
    total: fc.oneof(fc.integer(), value),
    list: fc.oneof(fc.array(row, { maxLength: 60 }), value),
  }),
  query_game_detail: fc.record({
    game_id: value,
    game_name: value,
    game_icon: value,
    game_info: value,
    game_store_video: value,
    game_store_pic: value,
  }),
  query_cp_kyc: fc.dictionary(fc.constantFrom(...Object.keys(kycRecordSchema.shape), '__proto__'), value),
};

/** Valid data, so that a single mutation is what breaks it. */
const VALID: Record<Operation, unknown> = {
  query_game_list: {
    total: 1,
    list: [{ game_id: 'g', game_name: 'G', game_icon: 'https://cdn.example/g.png' }],
  },
  query_game_detail: {
    game_id: 'g',
    game_name: 'G',
    game_icon: ['https://cdn.example/g.png'],
    game_info: 'A game.',
    game_store_video: '',
    game_store_pic: [],
  },
  query_cp_kyc: Object.fromEntries(Object.keys(kycRecordSchema.shape).map((field) => [field, field])),
};

const response = fc.constantFrom(...OPERATIONS).chain((operation) =>
  fc.record({
    operation: fc.constant(operation),
    data: fc.oneof({ weight: 4, arbitrary: DATA[operation] }, fc.constant(VALID[operation]), value),
    /** A piece of the text that repeats: nesting, keys, escapes. */
    repeated: fc.option(
      fc.record({ at: fc.nat(), piece: fc.string({ maxLength: 12 }), times: fc.nat(20_000) }),
      { freq: 2 },
    ),
    bytes: fc.option(fc.record({ at: fc.nat(), put: fc.uint8Array({ minLength: 1, maxLength: 6 }) }), {
      freq: 3,
    }),
    coding: fc.constantFrom(undefined, undefined, 'gzip', 'br', 'x-gzip'),
    status: fc.constantFrom(200, 200, 200, 404, 503),
  }),
);
type Response = typeof response extends fc.Arbitrary<infer Value> ? Value : never;

const toBytes = ({ data, repeated, bytes, coding }: Response): Buffer => {
  let source = JSON.stringify({ ret_code: 0, ret_msg: 'success', data });
  if (repeated !== null) {
    const at = repeated.at % source.length;
    source = source.slice(0, at) + repeated.piece.repeat(repeated.times) + source.slice(at);
  }
  const zipped = coding === 'gzip' ? gzipSync(source, { level: 1 }) : Buffer.from(source);
  if (bytes !== null)
    zipped.set(bytes.put.subarray(0, zipped.length), bytes.at % Math.max(1, zipped.length - 6));
  return zipped;
};

/** Reads one response as a worker does, from bytes to rows. */
const read = async (each: Response): Promise<void> => {
  const { operation, status, coding: contentEncoding } = each;
  const maxBytes = MAX_BODY_BYTES[operation];
  const body = toBytes(each);
  const bytes = body.length > maxBytes ? null : body;
  const keepRetMsg = operation !== 'query_cp_kyc';
  const reply = { status, retryAfter: undefined, contentEncoding, bytes, hasEnd: true };
  const data = await readEnvelope(reply, { maxBytes, accessToken: 'token', keepRetMsg });
  if (operation === 'query_game_list') await readPage(readData(applicationGameListSchema, data).list);
  else if (operation === 'query_cp_kyc') readData(kycRecordSchema.nullable(), data);
  else {
    const detail = readData(applicationGameDetailSchema.nullable(), data);
    if (detail !== null) contentHash(toGameContent(detail), RULE);
  }
};

/**
 * Reads `count` mutated responses.
 * @returns how many were valid, and the CPU time of the most expensive one in milliseconds
 * @throws if one costs more than 250 ms of CPU time, or ends in anything but a result or a CallError
 */
export const fuzzResponses = async (count: number): Promise<{ valid: number; longestMs: number }> => {
  let valid = 0;
  let longestMs = 0;
  await fc.assert(
    fc.asyncProperty(response, async (each) => {
      const from = process.threadCpuUsage();
      const error = await read(each).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const { user, system } = process.threadCpuUsage(from);
      longestMs = Math.max(longestMs, (user + system) / 1_000);
      if (error === undefined) valid += 1;
      else if (!isCallError(error)) throw error;
      if (longestMs > CPU_MAX_MS) throw new Error(`a response took ${longestMs} ms of CPU time`);
    }),
    { numRuns: count, endOnFailure: true },
  );
  return { valid, longestMs };
};

if (import.meta.main) {
  const count = Number(process.argv[2] ?? 200_000);
  const { valid, longestMs } = await fuzzResponses(count);
  process.stdout.write(
    `${count} responses, ${valid} valid; the most expensive took ${longestMs.toFixed(1)} ms of CPU time\n`,
  );
}
