import type { Socket } from 'node:net';
import { WIRE } from '#src/rules/budgets.ts';
import { WebhookError } from '#src/webhooks/errors.ts';

/** What arrives for one call besides the bytes of its body. A call's `traffic` counts while it runs. */
export type Traffic = {
  /** Pieces of the body, each with work of its own, and interim (1xx) responses. */
  pieces: number;
};

const tooManyBytes = (): WebhookError =>
  new WebhookError('body_too_large', `the response has more than ${WIRE.bytes} bytes, body and all`);

export const tooManyInterimResponses = (): WebhookError =>
  new WebhookError(
    'body_too_large',
    `more than ${WIRE.interimResponses} interim (1xx) responses came before it`,
  );

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
    } else if (bytesRead - before > WIRE.bytes) socket.destroy(tooManyBytes());
  });
};
