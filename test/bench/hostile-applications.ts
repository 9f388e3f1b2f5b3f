// Fifty applications that answer and fifty that misbehave, in a process of their own. Prints their addresses in
// one line of JSON, ends with its stdin.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { startSampleApplication } from '#src/sample-application/start.ts';

const APPLICATIONS = 50;
const GAMES = 100;
const LATENCY_MS = 100;
const TRICKLE_MS = 1_000;

export type Addresses = { healthy: string[]; hostile: string[] };

const listening = async (server: Server): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const trickle: RequestListener = (_request, response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), TRICKLE_MS);
  response.on('close', () => clearInterval(timer));
};

const page = {
  total: 100,
  list: Array.from({ length: 100 }, (_, i) => ({ game_id: `g${i}`, game_name: 'G', game_icon: '' })),
};

/** The ways of being away, in turn: every fifth application each. */
const HOSTILE: (() => Promise<string>)[] = [
  // Nobody listens.
  async () => 'http://127.0.0.1:1',
  // Takes the connection and says nothing.
  () => listening(createTcpServer(() => {})),
  () => listening(createServer(trickle)),
  // Lists its games at once, and trickles their details: each job holds eight calls.
  () =>
    listening(
      createServer((request, response) => {
        if (!request.url?.endsWith('query_game_list')) return trickle(request, response);
        response.end(JSON.stringify({ ret_code: 0, ret_msg: 'success', data: page }));
      }),
    ),
  () => listening(createServer((_, response) => response.writeHead(502).end('down'))),
];

const healthy = Array.from({ length: APPLICATIONS }, (_, index) =>
  startSampleApplication({
    accessToken: 'bench',
    games: GAMES,
    seed: `healthy ${index}`,
    latencyMs: LATENCY_MS,
  }),
);
const hostile = Array.from({ length: APPLICATIONS }, (_, index) => HOSTILE[index % HOSTILE.length]?.() ?? '');
const addresses: Addresses = {
  healthy: (await Promise.all(healthy)).map(({ url }) => url),
  hostile: await Promise.all(hostile),
};
process.stdout.write(`${JSON.stringify(addresses)}\n`);
await once(process.stdin.resume(), 'end');
process.exit();
