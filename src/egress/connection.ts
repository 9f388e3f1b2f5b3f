import { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, errors } from 'undici';
import { CallError } from '#src/egress/errors.ts';
import { connectError } from '#src/egress/transport-errors.ts';
import { WIRE } from '#src/rules/budgets.ts';

/** What a connection received for the call that it serves. */
export type Connection = {
  /** A request begins: what arrives from now on belongs to its call. @param mostBytes of this call */
  begin: (mostBytes?: number) => void;
  /** Bytes since `begin`: headers, body, trailers and all. Over TLS after decryption, without tickets. */
  received: () => number;
  /** Did the server end it? Otherwise it is open, or was destroyed here. */
  hasEnded: () => boolean;
};

/** A request, and the client whose connection serves it: undefined until one is chosen. */
export type SenderRequest = Dispatcher.DispatchOptions & {
  served: { by?: Pick<SenderClient, 'connection'> };
};

/**
 * Counts the bytes of a connection, and destroys it if it receives more than `maxBytes` or `WIRE.sessionTickets` for one
 * call. The reader of a body counts its bytes; only this counts those around it (extensions of chunks, headers, trailers).
 * @param arrival the event with which the client reads, because a listener of `readable` stops the flow of `data`
 */
export const watchConnection = (
  socket: Socket,
  { maxBytes, arrival }: { maxBytes: number; arrival: 'readable' | 'data' },
): Connection => {
  let before = socket.bytesRead;
  let limit = maxBytes;
  let tickets = 0;
  const refuse = (what: string) => socket.destroy(new CallError('body_too_large', what));
  const received = () => socket.bytesRead - before;
  socket.on(arrival, () => {
    if (received() > limit) refuse(`the response has more than ${limit} bytes, body and all`);
  });
  socket.on('session', () => {
    tickets += 1;
    if (tickets > WIRE.sessionTickets)
      refuse(`more than ${WIRE.sessionTickets} TLS session tickets came with it`);
  });
  return {
    begin: (mostBytes = maxBytes) => {
      before = socket.bytesRead;
      limit = mostBytes;
      tickets = 0;
    },
    received,
    hasEnded: () => socket.readableEnded,
  };
};

/** A connector whose errors name what failed, and whose connections `prepare` gets before undici does. */
export const wrapConnector =
  (
    connect: buildConnector.connector,
    nameError: (error: Error, isTls: boolean, isConnected: boolean) => CallError,
    prepare: (socket: Socket) => void = () => {},
  ): buildConnector.connector =>
  (options, callback) => {
    let isConnected = false;
    // undici returns the socket, which its types do not say.
    const connecting: unknown = connect(options, (...result) => {
      const [error, socket] = result;
      // For a tunnel, undici returns no socket; the deadline that passed is then that of the TLS handshake in the tunnel.
      isConnected ||= !(connecting instanceof Socket) && error instanceof errors.ConnectTimeoutError;
      if (error !== null) return callback(nameError(error, options.protocol === 'https:', isConnected), null);
      prepare(socket);
      return callback(...result);
    });
    if (connecting instanceof Socket)
      connecting.once('connect', () => {
        isConnected = true;
      });
  };

/**
 * A client of undici with one connection at a time. Requests read the connection that serves them here, because undici
 * does not expose it.
 */
export class SenderClient extends Client {
  /** From the start of a request on, the connection that serves it. */
  connection: Connection | undefined;

  /** @param options `connect` is a function */
  constructor(origin: URL, { connect, ...options }: Client.Options) {
    const watch = (socket: Socket): void => {
      this.connection = watchConnection(socket, { maxBytes: WIRE.bytes, arrival: 'readable' });
    };
    const connector = connect as buildConnector.connector;
    super(origin, { ...options, connect: wrapConnector(connector, connectError, watch) });
  }

  override dispatch(request: SenderRequest, handler: Dispatcher.DispatchHandler): boolean {
    request.served.by = this;
    return super.dispatch(request, handler);
  }
}
