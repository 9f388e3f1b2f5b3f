import { Agent, request } from 'node:http';
import { parentPort } from 'node:worker_threads';

// A thread that makes calls with these bodies in turn, 16 at a time, and measures them. One thread makes all loads, so that
// its code is compiled before it measures.
export type Load = { url: string; token: string; bodies: string[]; calls: number };
export type Measured = { perSecond: number; p50: number; p99: number };
const CONCURRENCY = 16;

const call = (agent: Agent, { url, token }: Load, body: string): Promise<void> =>
  new Promise((done, failed) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      if (response.statusCode !== 200) failed(new Error(`answered ${response.statusCode}`));
      response.resume().on('end', done);
    });
    sent.on('error', failed).end(body);
  });

const makeLoad = async (load: Load): Promise<Measured> => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const times: number[] = [];
  let left = load.calls;
  const from = performance.now();
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      const start = performance.now();
      await call(agent, load, load.bodies[(load.calls - left - 1) % load.bodies.length] ?? '');
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, caller));
  const seconds = (performance.now() - from) / 1_000;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { perSecond: load.calls / seconds, p50: at(0.5), p99: at(0.99) };
};

parentPort?.on('message', async (load: Load) => parentPort?.postMessage(await makeLoad(load)));
