import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Operation } from '#src/contract/words.ts';
import { createSampleCatalogue, type SampleCatalogue } from '#src/sample-application/game-data.ts';
import { mediaAt } from '#src/sample-application/media.ts';
import { fail, type WebhookAnswer, webhooksOf } from '#src/sample-application/webhooks.ts';

const MAX_REQUEST_BYTES = 64 * 1024;
const GAMES_DEFAULT = 300;

export type SampleApplicationOptions = {
  /** The token that every call must bear (section 5). */
  accessToken: string;
  /** What is served; generated from `games` (300) and `seed` when absent. */
  catalogue?: SampleCatalogue;
  games?: number;
  seed?: string;
  /** 0, the default, takes a free one. Picture addresses hold it: games stay the same while it does. */
  port?: number;
  host?: string;
  /** How long every webhook thinks. */
  latencyMs?: number;
};

export type SampleApplication = {
  url: string;
  /** The addresses to register. */
  webhooks: Record<Operation, string>;
  catalogue: SampleCatalogue;
  /** Requests each webhook has had, refused ones included. */
  calls: Record<Operation, number>;
  close(): Promise<void>;
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, so that the time it takes tells nothing about the token. */
const bears = (request: IncomingMessage, tokenDigest: Buffer): boolean => {
  const [, token = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  return timingSafeEqual(sha256(token), tokenDigest);
};

/** The body as text; null when it is larger than anything a webhook is asked. */
const readText = async (request: IncomingMessage): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_REQUEST_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const pathOf = (operation: string): string => `/webhooks/${operation}`;

/**
 * A real HTTP server that implements group B of the interface document to the letter: for the demo, the tests,
 * and as an example for application developers. Serves the pictures and videos its games name as well.
 */
export const startSampleApplication = async (
  options: SampleApplicationOptions,
): Promise<SampleApplication> => {
  const {
    accessToken,
    games = GAMES_DEFAULT,
    seed = 'sample',
    port = 0,
    host = '127.0.0.1',
    latencyMs = 0,
  } = options;
  const tokenDigest = sha256(accessToken);
  const server = createServer();
  server.listen(port, host);
  await once(server, 'listening');

  const authority = host.includes(':') ? `[${host}]` : host;
  const url = `http://${authority}:${(server.address() as AddressInfo).port}`;
  const catalogue = options.catalogue ?? createSampleCatalogue({ games, seed, baseUrl: url });
  const handlers = webhooksOf(catalogue);
  const calls: Record<Operation, number> = { query_game_list: 0, query_game_detail: 0, query_cp_kyc: 0 };
  const operations = Object.keys(calls) as Operation[];

  const answerCall = async (operation: Operation, request: IncomingMessage): Promise<WebhookAnswer> => {
    calls[operation] += 1;
    if (latencyMs > 0) await wait(latencyMs);
    if (request.method !== 'POST') return fail(405, 'call this address with POST');
    if (!bears(request, tokenDigest)) return fail(401, 'the access token is missing or wrong');
    const text = await readText(request);
    if (text === null) return fail(413, `the body is larger than ${MAX_REQUEST_BYTES} bytes`);
    const body = parseJson(text);
    return body === undefined ? fail(400, 'the body is not JSON') : handlers[operation](body);
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').replace(/\?.*$/, '');
    const media = mediaAt(path, (gameId) => catalogue.get(gameId)?.game_name ?? null);
    if (media !== null && request.method === 'GET') {
      response.writeHead(200, { 'content-type': media.contentType }).end(media.content);
      return;
    }
    const operation = operations.find((candidate) => pathOf(candidate) === path);
    const { status, envelope } =
      operation === undefined ? fail(404, 'nothing is here') : await answerCall(operation, request);
    // What was not read of a refused request stays unread: the connection ends with the answer.
    if (!request.complete) response.setHeader('connection', 'close');
    response
      .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      .end(JSON.stringify(envelope));
  };

  server.on('request', (request, response) => {
    // A caller that hangs up in the middle is the only thing that can go wrong here, and it needs no answer.
    answer(request, response).catch(() => response.destroy());
  });

  return {
    url,
    webhooks: {
      query_game_list: url + pathOf('query_game_list'),
      query_game_detail: url + pathOf('query_game_detail'),
      query_cp_kyc: url + pathOf('query_cp_kyc'),
    },
    catalogue,
    calls,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
