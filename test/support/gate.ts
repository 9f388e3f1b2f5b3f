import { once } from 'node:events';
import { request as forward, type IncomingMessage, type RequestListener } from 'node:http';
import { startRawServer } from '#test/support/application-server.ts';
import { until } from '#test/support/until.ts';

/** A call: the last part of its path, and its body. */
export type GatedCall = { operation: string; body: { page_num?: number; game_id?: string } };

/** Stands before an application's server, so that a test can stop time at one call. */
export type Gate = {
  url: string;
  /** From now on, calls of which this is true wait. */
  block: (which: (call: GatedCall) => boolean) => void;
  /** Resolves when as many calls wait. */
  blocked: (count: number) => Promise<void>;
  /** Let the waiting calls through, and all that come. */
  release: () => void;
  close: () => Promise<void>;
};

const read = async (request: IncomingMessage): Promise<Buffer> => Buffer.concat(await request.toArray());

/** Opens a gate before the server at `target`. */
export const startGate = async (target: string): Promise<Gate> => {
  let isBlocked: (call: GatedCall) => boolean = () => false;
  let waiting: (() => void)[] = [];

  const pass: RequestListener = async (request, response) => {
    const body = await read(request);
    const call = { operation: request.url?.split('/').at(-1) ?? '', body: JSON.parse(body.toString()) };
    if (isBlocked(call)) await new Promise<void>((resolve) => waiting.push(resolve));
    const { method, headers } = request;
    const onward = forward(new URL(request.url ?? '', target), { method, headers, agent: false });
    onward.end(body);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    const content = await read(answer);
    response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' }).end(content);
  };

  const server = await startRawServer((request, response) => {
    // A client that hung up meanwhile needs no answer.
    Promise.resolve(pass(request, response)).catch(() => response.destroy());
  });
  const release = () => {
    isBlocked = () => false;
    for (const go of waiting) go();
    waiting = [];
  };
  return {
    url: server.url,
    block: (which) => {
      isBlocked = which;
    },
    blocked: async (count) => {
      await until(`${count} calls wait at the gate`, () => waiting.length >= count);
    },
    release,
    close: async () => {
      release();
      await server.close();
    },
  };
};
