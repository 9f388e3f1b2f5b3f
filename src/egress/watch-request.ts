/** Bounds a request of `node:http` as connection.ts and http-post.ts bound one of undici, and names its errors alike. */
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Connection, watchConnection } from '#src/egress/connection.ts';
import { type CallError, tooManyInterim } from '#src/egress/errors.ts';
import { connectError, exchangeError } from '#src/egress/transport-errors.ts';
import { WIRE } from '#src/rules/budgets.ts';

/** Agents keep a connection for several requests, but it is watched once. */
const watched = new WeakMap<Socket, Connection>();

export type WatchedRequest = {
  /** The error of the request. @param isResponding whether the response had begun */
  nameError: (error: Error, isResponding: boolean) => CallError;
};

/** Destroys the request if more than `maxBytes`, or more than `WIRE` allows, arrives for it. */
export const watchRequest = (request: ClientRequest, maxBytes: number): WatchedRequest => {
  const isTls = request.protocol === 'https:';
  let isConnected = false;
  let interimResponses = 0;
  request.on('socket', (socket) => {
    const connection = watched.get(socket) ?? watchConnection(socket, { maxBytes, arrival: 'data' });
    watched.set(socket, connection);
    connection.begin();
    isConnected = request.reusedSocket;
    if (isConnected) return;
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      isConnected = true;
    });
  });
  request.on('information', () => {
    interimResponses += 1;
    if (interimResponses > WIRE.interimResponses) request.destroy(tooManyInterim(WIRE.interimResponses));
  });
  return {
    nameError: (error, isResponding) =>
      isConnected ? exchangeError(error, { isResponding, isRefused: false }) : connectError(error, isTls),
  };
};
