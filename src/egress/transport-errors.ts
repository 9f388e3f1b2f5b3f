import { closeSync, openSync } from 'node:fs';
import { errors } from 'undici';
import type { Reason } from '#src/contract/text.ts';
import { NO_ALLOWED_ADDRESS } from '#src/egress/egress.ts';
import { CallError, isCallError } from '#src/egress/errors.ts';

/** Returns the code of an error of Node, got or undici, never its text. For a name with several addresses it is the code of the first. */
const codeOf = (error: unknown): string => {
  const { code } = error as NodeJS.ErrnoException;
  return /^[A-Z][A-Z0-9_]{2,63}$/.test(code ?? '') ? String(code) : 'unknown';
};

/** A code as the reason of an error. The code of a connection that closed says no more than the kind of the error. */
const reasonsOf = (code: string): Reason[] =>
  code === 'unknown' || code === 'UND_ERR_SOCKET' ? [] : [{ path: '', code: code.toLowerCase() }];

/**
 * Is this an error of the handshake? Those of the look-up and of the connection name a system call, and those of undici and
 * of the tunnel have codes of their own.
 */
const isHandshakeError = (error: Error, code: string): boolean =>
  !code.startsWith('UND_ERR_') &&
  code !== 'ERR_PROXY_TUNNEL' &&
  !(error instanceof AggregateError) &&
  !['getaddrinfo', 'connect'].includes((error as NodeJS.ErrnoException).syscall ?? '');

/** Limits of this process or machine: open files, memory, local ports. */
const LOCAL_LIMIT = /^(?:EMFILE|ENFILE|ENOBUFS|ENOMEM|EADDRNOTAVAIL)$/;

/** Returns the limit that keeps this process from opening a file. A look-up that meets it reports only that no name was found. */
const reachedLimit = (): string | undefined => {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    return LOCAL_LIMIT.test(code) ? code : undefined;
  }
};

const noSocket = (code: string): CallError =>
  new CallError('no_socket', `this machine opened no connection (${code})`);

/**
 * The error of a connection that was not made.
 * @param isTls whether a handshake follows the connection
 * @param isConnected whether the handshake had begun; false if that is not known
 */
export const connectError = (error: Error, isTls: boolean, isConnected = false): CallError => {
  if (isCallError(error)) return error;
  const code = codeOf(error);
  if (code === NO_ALLOWED_ADDRESS) {
    return new CallError('forbidden_address', 'its name resolves to no address that is allowed');
  }
  if (LOCAL_LIMIT.test(code)) return noSocket(code);
  if (/^(?:ENOTFOUND|ENODATA|EAI_)/.test(code)) {
    const limit = reachedLimit();
    if (limit !== undefined) return noSocket(limit);
    return new CallError('name_not_found', `its name does not resolve (${code})`);
  }
  const reasons = reasonsOf(code);
  if (isTls && isHandshakeError(error, code)) {
    return new CallError('tls_failed', `the TLS handshake or the certificate failed (${code})`, {
      reasons,
      handshakeFailed: true,
    });
  }
  const status = tunnelStatus(error);
  if (status === 407) return new CallError('proxy_failed', `the proxy refuses its password (HTTP ${status})`);
  return status === undefined
    ? new CallError('connect_failed', `no connection (${code})`, {
        reasons,
        handshakeFailed: isTls && isConnected,
      })
    : new CallError('connect_failed', `the proxy made no connection (HTTP ${status})`);
};

/** Reads the status with which the proxy refused CONNECT from undici's message. Undefined for other errors. */
const tunnelStatus = ({ message }: Error): number | undefined => {
  const status = /^Proxy response \((\d{3})\)/.exec(message)?.[1];
  return status === undefined ? undefined : Number(status);
};

/** The error of a connection to the proxy that was not made. */
export const proxyError = (error: Error): CallError =>
  new CallError('proxy_failed', `no connection to the proxy (${codeOf(error)})`);

/**
 * The error of a connection that broke.
 * @param isResponding whether the response had begun
 * @param isRefused whether something arrived before the response and undici destroyed the connection. Besides what its
 * parser refuses, those are 100 and a 101 that upgrades. No handler sees them, and their errors have no code of their own.
 */
export const exchangeError = (
  error: unknown,
  { isResponding, isRefused }: { isResponding: boolean; isRefused: boolean },
): CallError => {
  if (isCallError(error)) return error;
  if (isRefused && error instanceof errors.SocketError) {
    const what = '100 Continue, which only "Expect: 100-continue" requests, or 101 Switching Protocols';
    return new CallError('connection_lost', `the server sent ${what}: it must send the response alone`, {
      reasons: [{ path: '', code: 'unrequested_100_or_101' }],
    });
  }
  const code = error instanceof errors.HTTPParserError ? 'HTTP_PARSER' : codeOf(error);
  if (LOCAL_LIMIT.test(code)) return noSocket(code);
  const reasons = reasonsOf(code);
  if (isResponding && error instanceof errors.SocketError)
    return new CallError(
      'connection_lost',
      `the connection closed in the response, before its end (${code}): is Content-Length the number of bytes that are sent?`,
      { reasons: [{ path: '', code: 'incomplete' }] },
    );
  // Codes of undici and of Node's parser, as for headers over 16 KiB or a body whose length is not Content-Length.
  return isResponding || /^(?:HTTP_PARSER|HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_)/.test(code)
    ? new CallError('connection_lost', `the connection broke in the response, or it is not HTTP (${code})`, {
        reasons,
      })
    : new CallError('connect_failed', `the connection closed before a response (${code})`, { reasons });
};
