import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** A server that answers as a test tells it to, however wrong that is. */
export type RawServer = {
  url: string;
  port: number;
  /** Connections it has had: 0 shows that nothing was dialled. */
  connections(): number;
  /** Connections that are open now. */
  openConnections(): number;
  /** Ends every open connection. */
  cut(): void;
  close(): Promise<void>;
};

const serve = async (server: Server, scheme: string): Promise<RawServer> => {
  const open = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    openConnections: () => open.size,
    cut,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      cut();
      await closed;
    },
  };
};

/**
 * A bare HTTP server. `close` ends every connection. A handler may fail once its client has hung up: without a listener
 * such an error would fail the run, and no test.
 */
export const startRawServer = (handler: RequestListener): Promise<RawServer> => {
  const server = createHttpServer((request, response) => {
    Promise.try(handler, request, response).catch((error: unknown) => {
      if (!response.destroyed) throw error;
    });
  });
  return serve(server, 'http');
};

/** A bare TCP server, for answers that are not HTTP. Its `url` says http. */
export const startRawTcpServer = (onSocket: (socket: Socket) => void, scheme = 'http'): Promise<RawServer> =>
  serve(createTcpServer(onSocket), scheme);
