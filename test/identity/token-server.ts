import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server that answers each path with JSON. @param answer gets the path and the server's own address */
export const startServer = async (
  answer: (path: string, url: string) => unknown,
): Promise<{ url: string; stop: () => Promise<void> }> => {
  let url = '';
  const server = createServer((request, response) => {
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(answer(request.url ?? '', url)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};
