import { BlockList, isIP } from 'node:net';
import type { Login } from '#src/board/credentials.ts';
import { UsageError } from '#src/errors.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Is this host loopback? `*.localhost` is: browsers do not resolve it by DNS (RFC 6761, section 6.3).
 * @param host without a port; an IPv6 address with or without brackets
 */
export const isLoopback = (host: string): boolean => {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const version = isIP(bare);
  if (version === 0) return bare === 'localhost' || bare.endsWith('.localhost');
  return LOOPBACK.check(bare, version === 4 ? 'ipv4' : 'ipv6');
};

/**
 * Requires a login unless the board listens on loopback.
 * @param host the address to listen on (BOARD_HOST)
 * @throws UsageError that names the variables to set
 */
export const checkBoardAddress = (host: string, login: Login | null): void => {
  if (login !== null || isLoopback(host)) return;
  throw new UsageError(
    `The board would listen on ${host || 'every address'} without a login: set BOARD_USER and BOARD_PASSWORD, or keep BOARD_HOST on 127.0.0.1.`,
  );
};
