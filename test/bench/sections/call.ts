import { Agent, request } from 'node:http';
import got from 'got';
import { MAX_BODY_BYTES } from '#src/webhooks/bounds.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { createEgressPolicy } from '#src/webhooks/egress.ts';
import { createExchange } from '#src/webhooks/exchange.ts';
import { startApplications } from '#test/bench/fleet.ts';
import { median, type Row } from '#test/bench/report.ts';

const IN_FLIGHT = 80;
const TOKEN = 'bench-token';
const BODY = JSON.stringify({ game_id: 'g-12' });
const HEADERS = { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${TOKEN}` };

type Call = (port: number) => Promise<unknown>;

const parsed = (chunks: readonly Buffer[]): unknown => JSON.parse(Buffer.concat(chunks).toString());

const bare =
  (agent: Agent): Call =>
  (port) =>
    new Promise((found, failed) => {
      const headers = { ...HEADERS, 'content-length': Buffer.byteLength(BODY) };
      const options = { agent, host: '127.0.0.1', port, path: '/detail', method: 'POST', headers };
      const sent = request(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => found(parsed(chunks)));
      });
      sent.on('error', failed);
      sent.end(BODY);
    });

/** What one detail call costs the caller's CPU: node's own, got's interfaces around it, and our client. */
export const measureCalls = async (calls: number, rounds: number): Promise<Row[]> => {
  await using applications = await startApplications({ applications: 10, games: 100, latencyMs: 0 });
  const agent = new Agent({ keepAlive: true });
  const client = got.extend({
    agent: { http: agent },
    method: 'POST',
    decompress: false,
    followRedirect: false,
    retry: { limit: 0 },
    headers: HEADERS,
  });
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] });
  const ours = createWebhookClient({ egress });
  const exchange = createExchange({ egress });
  const { signal } = new AbortController();
  const posted = (port: number) => ({
    url: `http://127.0.0.1:${port}/detail`,
    accessToken: TOKEN,
    body: BODY,
    maxBytes: MAX_BODY_BYTES.query_game_detail,
    signal,
  });
  const variants: Record<string, Call> = {
    'node:http': bare(agent),
    'got.stream': (port) =>
      new Promise((found, failed) => {
        const stream = client.stream(`http://127.0.0.1:${port}/detail`, { body: BODY });
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => found(parsed(chunks)));
        stream.on('error', failed);
      }),
    "got's promises": (port) =>
      client(`http://127.0.0.1:${port}/detail`, { body: BODY, responseType: 'json' }),
    'our sender, by got': async (port) => parsed([(await exchange.post(posted(port))).bytes ?? Buffer.of()]),
    'our sender, by node:http': async (port) =>
      parsed([(await exchange.postBare(posted(port))).bytes ?? Buffer.of()]),
    'our client, validation included': (port) => {
      const url = `http://127.0.0.1:${port}/detail`;
      const target = {
        applicationId: 'bench',
        queryGameListWebhook: url,
        queryGameDetailWebhook: url,
        queryCpKycWebhook: url,
        accessToken: TOKEN,
      };
      return ours.queryGameDetail(target, { game_id: 'g-12' }, signal);
    },
  };
  const cpuUs: Record<string, number[]> = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, call] of Object.entries(variants)) {
      const before = process.cpuUsage();
      let left = calls;
      const lane = async (_: unknown, index: number): Promise<void> => {
        for (; left > 0; ) {
          left -= 1;
          await call(applications.ports[index % applications.ports.length] ?? 0);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
      const { user, system } = process.cpuUsage(before);
      if (round > 0) cpuUs[name]?.push((user + system) / calls);
    }
  }
  ours.close();
  exchange.close();
  agent.destroy();
  return Object.entries(cpuUs).map(([name, values]) => ({
    section: 'one call',
    figure: name,
    value: median(values),
    unit: 'CPU µs a call',
  }));
};
