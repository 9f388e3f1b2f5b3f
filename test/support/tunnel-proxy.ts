import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy that opens tunnels to this machine only, and keeps what was asked of it. */
export const startTunnelProxy = async (answer = '200 Connection established') => {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const other: string[] = [];
  let bytes = '';
  const server: Server = createServer((request, response) => {
    other.push(request.url ?? '');
    response.writeHead(405).end();
  });
  server.on('connect', (request, socket) => {
    asked.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    socket.on('error', () => {});
    socket.write(`HTTP/1.1 ${answer}\r\n\r\n`);
    if (!answer.startsWith('200')) return socket.end();
    const upstream = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1');
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1');
    });
    socket.pipe(upstream).pipe(socket);
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked, other, bytes: () => bytes };
};
