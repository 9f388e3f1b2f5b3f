import type http from 'node:http';
import type https from 'node:https';
import { ACCEPT_ENCODING } from '#src/webhooks/read-body.ts';

/** One POST to an address that may be called. */
export type Outgoing = {
  url: URL;
  /** null: no Authorization header at all (`app check` asks what happens then). */
  accessToken: string | null;
  /** The exact body, as JSON text. */
  body: string;
  maxBytes: number;
  /** Not aborted yet. */
  signal: AbortSignal;
};

/** What came back, as it came. */
export type Answer = {
  status: number;
  retryAfter: string | undefined;
  contentEncoding: string | undefined;
  /** The body before decompression; null when it is larger than the cap. */
  bytes: Buffer | null;
};

/** What a sender works with. */
export type SenderOptions = {
  agents: { http: http.Agent; https: https.Agent };
  /** The whole call, a trickling body included. */
  callTimeoutMs: number;
  /** Each of the name's look-up, the connection and the TLS handshake. */
  connectTimeoutMs: number;
};

/** Sends a request and reads its bounded answer; throws WebhookError alone. */
export type Sender = (request: Outgoing) => Promise<Answer>;

/** What every request says beside its token and its length. */
export const REQUEST_HEADERS = {
  'user-agent': 'game-catalogue',
  accept: 'application/json',
  'accept-encoding': ACCEPT_ENCODING,
  'content-type': 'application/json; charset=utf-8',
};
