import type { Operation } from '#src/contract/words.ts';
import { createSampleGames, type SampleGames } from '#src/sample-application/game-data.ts';
import { webhooksOf } from '#src/sample-application/webhooks.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { until } from '#test/support/until.ts';

type Call = { operation: Operation; page_num: number | undefined; game_id: string | undefined };

/** An application that counts every call and can block some. */
export type FleetApplication = {
  application_id: string;
  url: string;
  games: SampleGames;
  /** Number of requests for each page and each game. */
  counts: ReadonlyMap<string, number>;
  /** Calls of which this is true wait until they are released. */
  block: (which: (call: Call) => boolean) => void;
  blocked: (count: number) => Promise<void>;
  release: () => void;
  /** Ends every open connection. */
  cut: () => void;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** The same id serves the same games wherever it listens. */
export const startFleetApplication = async (
  application_id: string,
  options: { games: number; latencyMs?: number },
): Promise<FleetApplication> => {
  const games = createSampleGames({
    games: options.games,
    seed: application_id,
    baseUrl: 'https://cdn.example.com',
  });
  const handlers = webhooksOf(games);
  const counts = new Map<string, number>();
  let isBlocked: (call: Call) => boolean = () => false;
  let waiting: (() => void)[] = [];

  const server = await startRawServer(async (request, response) => {
    const operation = request.url?.slice(1) as Operation;
    const chunks: Buffer[] = [];
    request.on('error', () => response.destroy());
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const call: Call = { operation, page_num: body.page_num, game_id: body.game_id };
    const key = `${application_id} ${call.game_id ?? `page ${call.page_num}`}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (options.latencyMs) await new Promise((resolve) => setTimeout(resolve, options.latencyMs));
    if (isBlocked(call)) await new Promise<void>((resolve) => waiting.push(resolve));
    const { status, envelope } = handlers[operation](body);
    if (!response.destroyed)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(envelope));
  });
  const release = () => {
    isBlocked = () => false;
    for (const go of waiting) go();
    waiting = [];
  };
  return {
    application_id,
    url: server.url,
    games,
    counts,
    block: (which) => {
      isBlocked = which;
    },
    blocked: async (count) => void (await until(`${count} calls are blocked`, () => waiting.length >= count)),
    release,
    cut: server.cut,
    [Symbol.asyncDispose]: async () => {
      release();
      await server.close();
    },
  };
};
