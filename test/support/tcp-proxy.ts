import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What a test does to one chunk on its way: pass it, swallow it, or cut the connection. */
export type Verdict = 'pass' | 'swallow' | 'cut';
export type Watcher = {
  /** From the client to the server. Each connection has a memory of its own. */
  request?: (chunk: Buffer, memory: Record<string, unknown>) => Verdict;
  /** From the server to the client. */
  reply?: (chunk: Buffer, memory: Record<string, unknown>) => Verdict;
};

/** A TCP proxy: the network between a fleet and one of its servers. */
export type TcpProxy = {
  port: number;
  /** The same URL, by way of this proxy. */
  through: (url: string) => string;
  /**
   * Nothing passes in either direction, and no side sees an error: a lost network. With `of`, only connections
   * whose first words match.
   */
  pause: (of?: RegExp) => void;
  /** The same for each connection that is opened after this many. */
  pauseAfter: (connections: number) => void;
  /** What waited goes on. */
  resume: () => void;
  /** Ends every connection, and refuses new ones (or all above a number). */
  cut: (options?: { refuse?: boolean; most?: number }) => void;
  /** Takes connections again. */
  restore: () => void;
  watch: (watcher: Watcher) => void;
  /** From now on each reply arrives this many milliseconds later. */
  delayReplies: (ms: number) => void;
  open: () => number;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** Stand before the server at `port`; it is looked up for each connection, for servers that move. */
export const startProxy = async (port: () => number): Promise<TcpProxy> => {
  /** Each with its client's first words. */
  const pairs = new Map<readonly [Socket, Socket], string>();
  let most = Number.POSITIVE_INFINITY;
  let paused: RegExp | undefined;
  let pausedAfter = Number.POSITIVE_INFINITY;
  let opened = 0;
  const silent = new Set<readonly [Socket, Socket]>();
  let watcher: Watcher = {};
  let replyDelayMs = 0;

  const relay = (
    from: Socket,
    to: Socket,
    judge: (chunk: Buffer) => Verdict,
    destroy: () => void,
    later: (act: () => void) => void = (act) => act(),
  ): void => {
    from.on('data', (chunk: Buffer) => {
      const verdict = judge(chunk);
      if (verdict === 'pass') later(() => to.write(chunk));
      else if (verdict === 'cut') destroy();
    });
    from.on('close', () => later(destroy));
    from.on('error', destroy);
  };
  // Timers of one duration end in the order of their starts.
  const later = (act: () => void): void => {
    if (replyDelayMs === 0) act();
    else setTimeout(act, replyDelayMs);
  };
  const server = createServer((client) => {
    if (pairs.size >= most) {
      client.destroy();
      return;
    }
    const onward = connect(port(), '127.0.0.1');
    const pair = [client, onward] as const;
    pairs.set(pair, '');
    opened += 1;
    if (opened > pausedAfter) silent.add(pair);
    client.once('data', (chunk: Buffer) => {
      if (pairs.has(pair)) pairs.set(pair, chunk.toString('latin1'));
      pauseIfMeant(pair);
    });
    client.setNoDelay();
    onward.setNoDelay();
    const memory: Record<string, unknown> = {};
    const destroy = () => {
      pairs.delete(pair);
      client.destroy();
      onward.destroy();
    };
    relay(client, onward, (chunk) => watcher.request?.(chunk, memory) ?? 'pass', destroy);
    relay(onward, client, (chunk) => watcher.reply?.(chunk, memory) ?? 'pass', destroy, later);
    pauseIfMeant(pair);
  });
  const pauseIfMeant = (pair: readonly [Socket, Socket]) => {
    if (silent.has(pair) || paused?.test(pairs.get(pair) ?? '')) for (const socket of pair) socket.pause();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = (server.address() as AddressInfo).port;
  const each = (act: (socket: Socket) => void) => {
    for (const pair of pairs.keys()) for (const socket of pair) act(socket);
  };
  return {
    port: own,
    through: (url) => Object.assign(new URL(url), { port: String(own) }).href,
    pause: (of = /^/) => {
      paused = of;
      for (const pair of pairs.keys()) pauseIfMeant(pair);
    },
    pauseAfter: (connections) => {
      opened = 0;
      pausedAfter = connections;
    },
    resume: () => {
      paused = undefined;
      pausedAfter = Number.POSITIVE_INFINITY;
      silent.clear();
      each((socket) => socket.resume());
    },
    cut: ({ refuse = false, most: allowed } = {}) => {
      most = allowed ?? (refuse ? 0 : most);
      each((socket) => socket.destroy());
      pairs.clear();
    },
    restore: () => {
      most = Number.POSITIVE_INFINITY;
      watcher = {};
    },
    watch: (next) => {
      watcher = next;
    },
    delayReplies: (ms) => {
      replyDelayMs = ms;
    },
    open: () => pairs.size,
    [Symbol.asyncDispose]: async () => {
      each((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
};
