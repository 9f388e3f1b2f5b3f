import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { WIRE } from '#src/rules/budgets.ts';
import { WebhookError } from '#src/webhooks/errors.ts';

/** What arrives for one call besides the bytes of its body. A call's `traffic` counts while it runs. */
export type Traffic = {
  /** Pieces of the body, each with work of its own, and interim (1xx) responses. */
  pieces: number;
};

const tooMuch = (): WebhookError =>
  new WebhookError('body_too_large', `the response has more than ${WIRE.bytes} bytes around its body`);

/** Counts the pieces of each response in the `opaque` of its request. */
export const countPieces: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const traffic = (options as { opaque?: Traffic }).opaque;
  if (traffic === undefined) return dispatch(options, handler);
  let interim = 0;
  return dispatch(options, {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart: (controller, status, headers, message) => {
      if (status < 200) {
        traffic.pieces += 1;
        interim += 1;
        if (interim > WIRE.interimResponses) throw tooMuch();
      }
      handler.onResponseStart?.(controller, status, headers, message);
    },
    onResponseData: (controller, chunk) => {
      traffic.pieces += 1;
      handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  });
};

/**
 * Destroys a connection that receives more than `WIRE.bytes` for one call. The reader of a body counts its bytes; only
 * this limit counts those around it (extensions of chunks, headers, trailers).
 */
export const limitWireBytes = (socket: Socket): void => {
  let written = socket.bytesWritten;
  let before = socket.bytesRead;
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket;
    if (bytesWritten !== written) {
      // A request was sent since: what arrives now belongs to it.
      written = bytesWritten;
      before = bytesRead;
    } else if (bytesRead - before > WIRE.bytes) socket.destroy(tooMuch());
  });
};
