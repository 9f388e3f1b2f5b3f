// Fifty applications that answer (argument `healthy`) or fifty that misbehave (`hostile`), each kind in a process of its
// own. Prints their addresses in one line of JSON, ends with its stdin.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { COSTLY } from '#test/bench/costly-applications.ts';
import { ACCESS_TOKEN } from '#test/support/factories.ts';

const APPLICATIONS = 50;
const GAMES = 100;
const LATENCY_MS = 100;
const TRICKLE_MS = 1_000;

export type Kind = 'healthy' | 'hostile';

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

/** The ways of being unreachable or costly, in turn: every tenth application each. */
const HOSTILE: (() => Promise<string>)[] = [
  // A port without a listener.
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
  ...COSTLY.map((answer) => () => listening(createServer(answer))),
];

const START: Record<Kind, (index: number) => Promise<string> | undefined> = {
  healthy: async (index) => {
    const seed = `healthy ${index}`;
    const options = { accessToken: ACCESS_TOKEN, games: GAMES, seed, latencyMs: LATENCY_MS };
    return (await startSampleApplication(options)).url;
  },
  hostile: (index) => HOSTILE[index % HOSTILE.length]?.(),
};
const start = START[process.argv[2] === 'healthy' ? 'healthy' : 'hostile'];
const addresses = await Promise.all(Array.from({ length: APPLICATIONS }, (_, index) => start(index)));
process.stdout.write(`${JSON.stringify(addresses)}\n`);
await once(process.stdin.resume(), 'end');
process.exit();
