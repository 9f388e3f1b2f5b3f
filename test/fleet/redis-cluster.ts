import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findFreePort } from '#src/embedded/free-port.ts';
import { type RedisServer, startRedisServer } from '#test/support/redis-server.ts';
import { until } from '#test/support/until.ts';

const run = promisify(execFile);

/** A Redis Cluster on this machine. */
export type RedisCluster = {
  nodes: readonly RedisServer[];
  /** REDIS_URL, with the first three nodes. */
  url: string;
  cli: (node: RedisServer, ...args: string[]) => Promise<string>;
  /** The node that serves the slot of this key now. */
  masterOf: (key: string) => Promise<RedisServer>;
  /** The nodes that are masters now, as a node that answers sees them. */
  masters: () => Promise<RedisServer[]>;
  /** Moves the slot of this key, with its keys, to another master. */
  moveSlot: (key: string) => Promise<void>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

/** A node that does not answer for this time is down: its replica takes over. */
const NODE_TIMEOUT_MS = 2_000;
/** A node's timeout while the cluster forms. A node that is slower misses its CLUSTER MEET, and redis-cli waits for ever. */
const JOIN_MS = 60_000;

const NODES = 6;

/** Starts a cluster of three masters, each with a replica. */
export const startRedisCluster = async (): Promise<RedisCluster> => {
  await using stack = new AsyncDisposableStack();
  const nodes: RedisServer[] = [];
  const addresses: string[] = [];
  for (let index = 0; index < NODES; index += 1) {
    // By default the bus listens at the port plus 10,000, which may be above the last port.
    const bus = String(await findFreePort());
    const args = ['--cluster-enabled', 'yes', '--cluster-port', bus];
    const timeout = ['--cluster-node-timeout', String(JOIN_MS)];
    const node = stack.use(await startRedisServer({ args: [...args, ...timeout] }));
    nodes.push(node);
    addresses.push(`127.0.0.1:${node.port}@${bus}`);
  }
  const replicas = ['--cluster-replicas', '1', '--cluster-yes'];
  await run('redis-cli', ['--cluster', 'create', ...addresses, ...replicas], { timeout: JOIN_MS });
  const cli = async (node: RedisServer, ...args: string[]) =>
    (await run('redis-cli', ['-p', String(node.port), ...args], { timeout: 5_000 })).stdout.trim();
  /** What the first node says that answers. */
  const ask = async (...args: string[]): Promise<string> => {
    for (const node of nodes) {
      const answer = await cli(node, ...args).catch(() => '');
      if (answer !== '' && !answer.startsWith('CLUSTERDOWN')) return answer;
    }
    throw new Error('no node answers');
  };
  for (const node of nodes) {
    await until('the cluster is whole', async () => {
      const info = await cli(node, 'cluster', 'info');
      const links = await cli(node, 'cluster', 'nodes');
      return info.includes('cluster_state:ok') && links.split('\n').length === nodes.length;
    });
    await until(
      'its replicas follow',
      async () => !(await cli(node, 'info')).includes('master_link_status:down'),
    );
    await cli(node, 'config', 'set', 'cluster-node-timeout', String(NODE_TIMEOUT_MS));
  }
  const byPort = (port: number): RedisServer => {
    const found = nodes.find((node) => node.port === port);
    if (found === undefined) throw new Error(`no node at ${port}`);
    return found;
  };
  const listNodes = async () =>
    (await ask('cluster', 'nodes')).split('\n').map((line) => {
      const [id = '', address = '', flags = '', , , , , ...slots] = line.split(' ');
      return { id, port: Number(/:(\d+)@/.exec(address)?.[1]), flags: flags.split(','), slots };
    });
  const ownerOf = async (slot: number) => {
    const owners = (await listNodes()).filter(
      ({ flags }) => flags.includes('master') && !flags.includes('fail'),
    );
    const owner = owners.find(({ slots }) =>
      slots.some((range) => {
        const [from = '', to = from] = range.split('-');
        return slot >= Number(from) && slot <= Number(to);
      }),
    );
    if (owner === undefined) throw new Error(`no node serves slot ${slot}`);
    return { owner, others: owners.filter((each) => each !== owner) };
  };
  const slotOf = async (key: string) => Number(await ask('cluster', 'keyslot', key));
  const all = stack.move();
  return {
    nodes,
    url: `redis+cluster://${nodes
      .slice(0, 3)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join(',')}`,
    cli,
    masterOf: async (key) => byPort((await ownerOf(await slotOf(key))).owner.port),
    masters: async () =>
      (await listNodes())
        .filter(({ flags }) => flags.includes('master') && !flags.includes('fail'))
        .map(({ port }) => byPort(port)),
    moveSlot: async (key) => {
      const slot = String(await slotOf(key));
      const { owner, others } = await ownerOf(Number(slot));
      const [target] = others;
      if (target === undefined) throw new Error('no other master');
      const [from, to] = [byPort(owner.port), byPort(target.port)];
      await cli(to, 'cluster', 'setslot', slot, 'importing', owner.id);
      await cli(from, 'cluster', 'setslot', slot, 'migrating', target.id);
      for (;;) {
        const keys = (await cli(from, 'cluster', 'getkeysinslot', slot, '100')).split('\n').filter(Boolean);
        if (keys.length === 0) break;
        await cli(from, 'migrate', '127.0.0.1', String(to.port), '', '0', '5000', 'keys', ...keys);
      }
      for (const node of [to, from]) await cli(node, 'cluster', 'setslot', slot, 'node', target.id);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};
