import { BlockList, isIP } from 'node:net';

export type Network = { address: string; prefix: number; family: 'ipv4' | 'ipv6' };

/**
 * A CIDR such as `10.0.0.0/8`, or a single address.
 *
 * @returns null if the text is neither
 */
export const parseNetwork = (text: string): Network | null => {
  const [, address = '', prefixText] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const version = isIP(address);
  if (version === 0) return null;
  const bits = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  return prefix > bits ? null : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
};

/** IPv4 that is not public unicast: IANA's special-purpose registry (RFC 6890 and its successors). */
const FORBIDDEN_IPV4 = [
  ['0.0.0.0', 8], // this network; 0.0.0.0 connects to loopback
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT; Alibaba's metadata at 100.100.100.200
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's wire server: looks public, belongs to the host
  ['169.254.0.0', 16], // link-local; the metadata of most clouds at 169.254.169.254
  ['172.16.0.0', 12],
  ['192.0.0.0', 24], // protocol assignments; Oracle's metadata at 192.0.0.192
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16],
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved; broadcast
] as const;

/** Not public unicast: parts of 2000::/3, and everything from 4000:: on. IANA assigns public unicast in 2000::/3. */
const FORBIDDEN_IPV6 = [
  ['2001::', 23], // protocol assignments: Teredo, ORCHID, benchmarking
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries an IPv4 address
  ['3fff::', 20], // documentation
  ['4000::', 2],
  ['8000::', 1], // unique local (fd00:ec2::254 is AWS's metadata), link-local, multicast and the unassigned
] as const;

/**
 * ::/3 without ::ffff:0:0/96: unspecified, loopback, NAT64 (64:ff9b::) and the forms that embed an IPv4 address.
 * BlockList compares IPv4 as ::ffff:a.b.c.d, so an IPv6 rule over the mapped addresses would block all of IPv4, and
 * the IPv4 rules apply to the mapped form.
 */
const FORBIDDEN_IPV6_RANGES = [
  ['::', '::fffe:ffff:ffff'],
  ['::1:0:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

/** The IPv4 address that NAT64 makes of an IPv6 address (RFC 6052, section 2.1). */
const translatedIpv4 = (address: string): string | undefined => {
  const { hostname } = new URL(`http://[${address}]`);
  const [, high = '0', low] = /^\[64:ff9b::(?:([0-9a-f]+):)?([0-9a-f]*)\]$/.exec(hostname) ?? [];
  if (low === undefined) return undefined;
  return [high, low].flatMap((part) => [Number(`0x0${part}`) >> 8, Number(`0x0${part}`) & 255]).join('.');
};

const blockListOf = (networks: readonly Network[]): BlockList => {
  const list = new BlockList();
  for (const { address, prefix, family } of networks) list.addSubnet(address, prefix, family);
  return list;
};

/**
 * @returns a predicate of literal addresses: is the address in a `denied` network, or neither public unicast nor in an
 * `allowed` network? An address that NAT64 translates must pass as IPv4 too. True for a text that is no address, and for
 * one with a zone (fe80::1%eth0), because BlockList would find them in no network.
 */
export const createForbiddenCheck = (
  allowed: readonly Network[],
  denied: readonly Network[] = [],
): ((address: string) => boolean) => {
  const blocked = new BlockList();
  for (const [address, prefix] of FORBIDDEN_IPV4) blocked.addSubnet(address, prefix, 'ipv4');
  for (const [address, prefix] of FORBIDDEN_IPV6) blocked.addSubnet(address, prefix, 'ipv6');
  for (const [first, last] of FORBIDDEN_IPV6_RANGES) blocked.addRange(first, last, 'ipv6');
  const exceptions = blockListOf(allowed);
  const refused = blockListOf(denied);
  const isForbidden = (text: string): boolean => {
    const network = parseNetwork(text);
    if (network === null) return true;
    const { address, family } = network;
    const isBlocked = blocked.check(address, family) && !exceptions.check(address, family);
    if (isBlocked || refused.check(address, family)) return true;
    const translated = family === 'ipv6' ? translatedIpv4(address) : undefined;
    return translated !== undefined && isForbidden(translated);
  };
  return isForbidden;
};
