import type { EgressPolicy } from '#src/egress/egress.ts';

/** Counts of what arrives for one call, without its connection, its handshake and a tunnel through a proxy. */
export type Traffic = {
  /** All bytes of HTTP, whether the call fails or not: body, headers, trailers, extensions of chunks, interim responses. */
  bytes: number;
  /** Pieces of the body, each with work of its own, and interim (1xx) responses. */
  pieces: number;
};

export type PostRequest = {
  url: string;
  /** null: no Authorization header. */
  accessToken: string | null;
  /** JSON text. */
  body: string;
  /** Added to the headers that every request has. */
  headers?: Record<string, string>;
  /** At most this many bytes of the response's body are read, before decompression. */
  maxBytes: number;
  /** At most this many bytes are received, body and all. Default: `WIRE.bytes`. */
  maxWireBytes?: number;
  /** Resolves when a body larger than `MEMORY.ordinaryBytes` may be read. */
  admitLarge?: (signal: AbortSignal) => Promise<void>;
  /** Gets what arrived: the pieces while the call runs, the bytes when it ends, also if it fails. */
  traffic?: Traffic;
  /** Gets the Location of a redirect, which no error has. */
  onRedirect?: (location: string | undefined) => void;
  signal: AbortSignal;
};

export type PostResponse = {
  status: number;
  retryAfter: string | undefined;
  contentEncoding: string | undefined;
  /** The body before decompression; null if it is larger than `maxBytes`. */
  bytes: Buffer | null;
  /** False: the body ended with its connection, so nothing shows whether it was cut. */
  hasEnd: boolean;
};

export type HttpPostOptions = {
  egress: EgressPolicy;
  /** Deadline of the whole call, until the last byte of the body. */
  callTimeoutMs?: number | undefined;
  /** Deadline of name look-up, connection and TLS handshake together. */
  connectTimeoutMs?: number | undefined;
};

export type HttpPost = {
  /**
   * Sends one POST over a kept-alive connection. Resolves with any status, 4xx and 5xx too, except a redirect.
   *
   * @throws CallError `forbidden_address`, `name_not_found`, `connect_failed`, `tls_failed`, `timeout`,
   *   `connection_lost`, `redirect`, `aborted`, or `body_too_large` if more than `WIRE` allows came around the body
   */
  post(request: PostRequest): Promise<PostResponse>;
  /** Destroys every connection. */
  close(): void;
};
