import { Agent, request } from 'node:http';
import got from 'got';
import { Agent as UndiciAgent } from 'undici';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { createHttpPost } from '#src/egress/http-post.ts';
import { MAX_BODY_BYTES } from '#src/rules/budgets.ts';
import { createWebhookClient } from '#src/webhooks/client.ts';
import { startApplications } from '#test/bench/fleet.ts';
import { median, type Row } from '#test/bench/report.ts';

const IN_FLIGHT = 80;
const TOKEN = 'bench-token';
const BODY = JSON.stringify({ game_id: 'g-12' });
const HEADERS = { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${TOKEN}` };

type Call = (port: number) => Promise<unknown>;

const parsed = (chunks: readonly Buffer[]): unknown => JSON.parse(Buffer.concat(chunks).toString());

const callByNode =
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

const callByUndici =
  (agent: UndiciAgent): Call =>
  async (port) => {
    const origin = `http://127.0.0.1:${port}`;
    const { body } = await agent.request({
      origin,
      path: '/detail',
      method: 'POST',
      headers: HEADERS,
      body: BODY,
    });
    return body.json();
  };

/** CPU of the caller for one detail call: node:http, undici and got alone, our sender, and our client. */
export const measureCalls = async (calls: number, rounds: number): Promise<Row[]> => {
  await using applications = await startApplications({ applications: 10, games: 100, latencyMs: 0 });
  const agent = new Agent({ keepAlive: true });
  const undiciAgent = new UndiciAgent({ allowH2: false });
  const gotClient = got.extend({
    agent: { http: agent },
    method: 'POST',
    decompress: false,
    followRedirect: false,
    retry: { limit: 0 },
    headers: HEADERS,
  });
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] });
  const client = createWebhookClient({ egress });
  const http = createHttpPost({ egress });
  const { signal } = new AbortController();
  const urlOf = (port: number): string => `http://127.0.0.1:${port}/detail`;
  const variants: Record<string, Call> = {
    'node:http': callByNode(agent),
    'undici, Agent.request': callByUndici(undiciAgent),
    "got's promises": (port) => gotClient(urlOf(port), { body: BODY, responseType: 'json' }),
    'our sender': async (port) => {
      const maxBytes = MAX_BODY_BYTES.query_game_detail;
      const { bytes } = await http.post({
        url: urlOf(port),
        accessToken: TOKEN,
        body: BODY,
        maxBytes,
        signal,
      });
      return parsed([bytes ?? Buffer.of()]);
    },
    'our client, validation included': (port) => {
      const url = urlOf(port);
      const target = {
        application_id: 'bench',
        query_game_list_webhook: url,
        query_game_detail_webhook: url,
        query_cp_kyc_webhook: url,
        accessToken: TOKEN,
      };
      return client.queryGameDetail(target, { game_id: 'g-12' }, signal);
    },
  };
  const cpuUs: Record<string, number[]> = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  // The first round only warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, call] of Object.entries(variants)) {
      const before = process.cpuUsage();
      let left = calls;
      const callInTurn = async (_: unknown, index: number): Promise<void> => {
        for (; left > 0; ) {
          left -= 1;
          await call(applications.ports[index % applications.ports.length] ?? 0);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, callInTurn));
      const { user, system } = process.cpuUsage(before);
      if (round > 0) cpuUs[name]?.push((user + system) / calls);
    }
  }
  client.close();
  http.close();
  agent.destroy();
  await undiciAgent.destroy();
  return Object.entries(cpuUs).map(([name, values]) => ({
    section: 'one call',
    figure: name,
    value: median(values),
    unit: 'CPU µs a call',
  }));
};
