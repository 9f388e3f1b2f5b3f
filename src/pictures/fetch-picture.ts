/** One request for a picture: without a token, through the egress rules, bounded in bytes and time. */
import { type ClientRequest, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import got, { type Response, TimeoutError } from 'got';
import type { FetchFailure } from '#src/contract/pictures.ts';
import { IDLE_CONNECTION_MS, TLS } from '#src/egress/agent.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import type { CallErrorCode } from '#src/egress/errors.ts';
import { readRetryAfterMs } from '#src/egress/retry-after.ts';
import { type WatchedRequest, watchRequest } from '#src/egress/watch-request.ts';
import { coerceError } from '#src/errors.ts';
import { PICTURE_BOUNDS } from '#src/rules/pictures.ts';

export type PictureRequest = {
  url: string;
  /** The ETag of the bytes that are known already. */
  etag: string | null;
};

export type PictureAnswer =
  | { kind: 'bytes'; bytes: Buffer; contentType: string; etag: string | null }
  /** 304: the bytes are those of `etag`. */
  | { kind: 'unchanged' }
  | { kind: 'failed'; outcome: FetchFailure; http_status: number | null; retryAfterMs?: number };

export type FetchOptions = {
  egress: EgressPolicy;
  agent: PictureAgent;
  /** PICTURE_MAX_BYTES */
  maxBytes: number;
  requestMs?: number;
};

const HEADERS = {
  'user-agent': 'game-catalogue',
  accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif',
  // Compression hardly makes an image smaller, and a body that is not decompressed cannot be a bomb.
  'accept-encoding': 'identity',
};

/** An entity tag of RFC 9110, of a length that we store. */
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,200}"$/;

/** The delay after "busy" without a Retry-After, and the shortest delay after one. */
const BUSY_MS = 60_000;
const BUSY_MIN_MS = 1_000;

/** Most pieces of a body, because each costs 20 µs of CPU. 10 MiB in packets of 1,400 bytes have 7,500. */
const PIECES_MAX = 20_000;

/** Bytes that may come around the body: headers, and the sizes of chunks. */
const AROUND_BYTES = 64 * 1024;

/** Connections of pictures alone. The address of each was checked. */
export type PictureAgent = { http: HttpAgent; https: HttpsAgent; close: () => void };

/** @param egress.proxy all connections are made through it (`WEBHOOK_PROXY`) */
export const createPictureAgent = ({ proxy }: Pick<EgressPolicy, 'proxy'>): PictureAgent => {
  const proxyEnv = proxy === undefined ? {} : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS, maxFreeSockets: 16, proxyEnv };
  const agents = { http: new HttpAgent(options), https: new HttpsAgent({ ...options, ...TLS }) };
  return {
    ...agents,
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
};

const failed = (outcome: FetchFailure, http_status: number | null = null): PictureAnswer => ({
  kind: 'failed',
  outcome,
  http_status,
});

const answerOfStatus = (
  status: number,
  headers: Response['headers'],
  etag: string | null,
): PictureAnswer | undefined => {
  if (status === 304) return etag === null ? failed('http_error', status) : { kind: 'unchanged' };
  if (status === 404 || status === 410) return failed('not_found', status);
  if (status === 429 || status === 503) {
    const requestedMs = readRetryAfterMs({ status, retryAfter: headers['retry-after'] }) ?? BUSY_MS;
    const retryAfterMs = Math.max(requestedMs, BUSY_MIN_MS);
    return { kind: 'failed', outcome: 'busy', http_status: status, retryAfterMs };
  }
  if (status >= 300 && status < 400) return failed('redirect', status);
  return status === 200 ? undefined : failed('http_error', status);
};

/** The outcome of each error of a request. The limits of `WIRE` count as a connection that broke. */
const OUTCOMES: Partial<Record<CallErrorCode, FetchFailure>> = {
  forbidden_address: 'forbidden_address',
  name_not_found: 'name_not_found',
  tls_failed: 'tls_failed',
  connect_failed: 'connect_failed',
};

/** A body is in memory once: in a buffer of its declared length, or in one that doubles. */
const withRoom = (body: Buffer, needed: number, declared: number): Buffer => {
  if (needed <= body.length) return body;
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, declared, 2 * body.length));
  body.copy(larger);
  return larger;
};

/**
 * Requests a picture. Redirects are not followed.
 * @throws the reason of the signal when it aborts; nothing else
 */
export const fetchPicture = async (
  { url, etag }: PictureRequest,
  { egress, agent, maxBytes, requestMs = PICTURE_BOUNDS.requestMs }: FetchOptions,
  signal: AbortSignal,
): Promise<PictureAnswer> => {
  signal.throwIfAborted();
  const verdict = egress.checkUrl(url);
  if (!verdict.ok) return failed('forbidden_address');
  const stream = got.stream(verdict.url, {
    headers: etag === null ? HEADERS : { ...HEADERS, 'if-none-match': etag },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    retry: { limit: 0 },
    timeout: { request: requestMs },
    agent: { http: agent.http, https: agent.https },
    // The proxy resolves the names; it may have a private address itself.
    ...(egress.proxy === undefined ? { dnsLookup: egress.lookup as never } : {}),
    signal,
  });
  let watched: WatchedRequest | undefined;
  stream.on('request', (request: ClientRequest) => {
    watched = watchRequest(request, maxBytes + AROUND_BYTES);
  });
  let response: Response | undefined;
  stream.on('response', (started: Response) => {
    response = started;
  });
  let body: Buffer = Buffer.alloc(0);
  let length = 0;
  let pieces = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const { statusCode = 0, headers = {} } = response ?? {};
      const answer = answerOfStatus(statusCode, headers, etag);
      // The body of an error is not read.
      if (answer !== undefined) return answer;
      pieces += 1;
      if (pieces > PIECES_MAX) return failed('connection_lost', 200);
      const declared = Number(headers['content-length']) || 0;
      const needed = length + chunk.length;
      if (Math.max(needed, declared) > maxBytes) return failed('too_large', 200);
      body = withRoom(body, needed, declared);
      length += chunk.copy(body, length);
    }
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof TimeoutError) return failed('timeout');
    const cause = coerceError((thrown as Error).cause ?? thrown);
    const code = watched?.nameError(cause, response !== undefined).code ?? 'connect_failed';
    return failed(OUTCOMES[code] ?? 'connection_lost');
  } finally {
    stream.destroy();
  }
  if (response === undefined) return failed('connection_lost');
  const { statusCode, headers } = response;
  const answer = answerOfStatus(statusCode, headers, etag);
  if (answer !== undefined) return answer;
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') return failed('encoded', 200);
  return {
    kind: 'bytes',
    bytes: body.subarray(0, length),
    contentType: (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase().slice(0, 100) ?? '',
    etag: ETAG.test(headers.etag ?? '') ? (headers.etag ?? null) : null,
  };
};
