import { isIP } from 'node:net';
import type { RedisOptions } from 'ioredis';
import { UsageError } from '#src/errors.ts';

type Node = { host: string; port: number };

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26379;

const parseNodes = (text: string, defaultPort: number): Node[] =>
  text.split(',').map((part) => {
    const match = /^(\[[0-9a-fA-F:.]+\]|[^:@]+)(?::(\d+))?$/.exec(part);
    const port = Number(match?.[2] ?? defaultPort);
    if (match?.[1] === undefined || port < 1 || port > 65_535) {
      // The message does not quote the host, because it may be a part of a password with a "/" or "@".
      throw new UsageError('REDIS_URL has a host that is not host:port (a password is percent-encoded).');
    }
    return { host: match[1].replace(/^\[|\]$/g, ''), port };
  });

/** REDIS_URL as options of ioredis. */
export type RedisTarget =
  | { kind: 'single'; options: RedisOptions }
  | { kind: 'sentinel'; options: RedisOptions }
  | { kind: 'cluster'; nodes: Node[]; options: RedisOptions };

/**
 * Parses REDIS_URL. One server: `redis://[user:password@]host[:port][/db]`, with TLS `rediss://…`. Sentinel:
 * `redis+sentinel://[user:password@]host:port,host:port/master-name[/db]`. Cluster:
 * `redis+cluster://[user:password@]host:port,host:port`. `rediss+…` for TLS.
 * @throws UsageError whose message has no password
 */
export const parseRedisUrl = (redisUrl: string): RedisTarget => {
  const match = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^/?#]+)(\/[^?#]*)?$/.exec(redisUrl);
  if (match === null) {
    throw new UsageError(
      'REDIS_URL is not redis://host:port, rediss://…, redis+sentinel://host:port,…/master or redis+cluster://host:port,….',
    );
  }
  const [, scheme, kind, userinfo, hosts = '', path = ''] = match;
  const [username, password] = userinfo === undefined ? [] : splitUserinfo(userinfo);
  const segments = path.split('/').filter((segment) => segment !== '');
  const options: RedisOptions = {
    ...(username ? { username } : {}),
    ...(password ? { password } : {}),
    ...(scheme === 'rediss' ? { tls: {} } : {}),
  };
  if (kind === 'cluster') return { kind, nodes: parseNodes(hosts, DEFAULT_PORT), options };
  if (kind === 'sentinel') {
    const [name, database] = segments;
    if (name === undefined)
      throw new UsageError('REDIS_URL for Sentinel ends with the master name: …/mymaster.');
    const sentinels = parseNodes(hosts, DEFAULT_SENTINEL_PORT);
    const secured = scheme === 'rediss' ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {};
    return { kind, options: { ...options, ...secured, name, sentinels, db: parseDatabase(database) } };
  }
  const [node, ...others] = parseNodes(hosts, DEFAULT_PORT);
  if (others.length > 0)
    throw new UsageError('REDIS_URL names several hosts: write redis+cluster:// or redis+sentinel://.');
  // Node refuses an IP address as the server name of TLS.
  const named = scheme === 'rediss' && node !== undefined && isIP(node.host) === 0;
  const tls = named ? { tls: { servername: node.host } } : {};
  return { kind: 'single', options: { ...options, ...tls, ...node, db: parseDatabase(segments[0]) } };
};

const splitUserinfo = (userinfo: string): [string, string] => {
  const colon = userinfo.indexOf(':');
  try {
    if (colon === -1) return ['', decodeURIComponent(userinfo)];
    return [decodeURIComponent(userinfo.slice(0, colon)), decodeURIComponent(userinfo.slice(colon + 1))];
  } catch {
    throw new UsageError('REDIS_URL has a user or password that is not percent-encoded.');
  }
};

const parseDatabase = (text: string | undefined): number => {
  const database = Number(text ?? 0);
  if (Number.isInteger(database) && database >= 0) return database;
  throw new UsageError('REDIS_URL ends with the number of a database, or with nothing.');
};

/** @throws UsageError if BullMQ or a cluster cannot use the prefix */
export const parsePrefix = (prefix: string): string => {
  if (/^[A-Za-z0-9_-]*(\{[A-Za-z0-9_-]+\})?[A-Za-z0-9_-]*$/.test(prefix) && prefix !== '') return prefix;
  throw new UsageError(
    `QUEUE_PREFIX "${prefix}" contains other characters than letters, digits, "-", "_" and one {hash tag}.`,
  );
};
