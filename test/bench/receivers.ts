import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a live receiver takes to answer, in milliseconds. */
const LIVE_MS = 100;
/** Less than the 15 s that a call may take. */
const SLOW_MS = 10_000;

export type Receivers = { urls: string[]; close: () => void };

const serve = async (handler: RequestListener) => {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, close };
};

const answerAfter =
  (ms: number): RequestListener =>
  (request, response) => {
    request.resume().on('end', () => setTimeout(() => response.writeHead(204).end(), ms).unref());
  };

const serveEach = async (handlers: readonly RequestListener[]): Promise<Receivers> => {
  const servers = await Promise.all(handlers.map(serve));
  return {
    urls: servers.map(({ url }) => url),
    close: () => servers.map(({ close }) => close()),
  };
};

/** Receivers that answer after 100 ms, each at its own address. */
export const startLive = (count: number): Promise<Receivers> =>
  serveEach(Array.from({ length: count }, () => answerAfter(LIVE_MS)));

/** Receivers that are dead in turn: they refuse the connection, never answer, or answer after ten seconds. */
export const startDead = async (count: number): Promise<Receivers> => {
  const refusing = await Promise.all(Array.from({ length: Math.ceil(count / 3) }, () => serve(() => {})));
  for (const { close } of refusing) close();
  const others = await serveEach(
    Array.from({ length: count - refusing.length }, (_, n) =>
      n % 2 === 0 ? () => {} : answerAfter(SLOW_MS),
    ),
  );
  return { urls: [...refusing.map(({ url }) => url), ...others.urls], close: others.close };
};

/** Resolves when `isTrue` does, asked every few milliseconds. @throws after a minute */
export const poll = async (what: string, isTrue: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within a minute: ${what}`);
    await sleep(5);
  }
};
