import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createForbiddenCheck, type Network, parseNetwork } from '#src/egress/networks.ts';
import { type Resolve, shareLookups } from '#src/egress/share-lookups.ts';
import { UsageError } from '#src/errors.ts';

export type UrlVerdict = { ok: true; url: URL } | { ok: false; reason: string };

/**
 * Decides which addresses a connection may use: `checkUrl` for hosts that are addresses, `lookup`
 * for hosts that are names. `net.BlockList` as an option of the connection does not work over
 * https: tls.connect does not pass `blockList` to its socket (Node 26.10).
 */
export type EgressPolicy = {
  /** Checks scheme, credentials, and hosts that are literal addresses. */
  checkUrl(url: string): UrlVerdict;
  /**
   * The `lookup` option of a connection: it returns only the allowed addresses of a name. The socket connects to these and
   * does not look the name up again, so a name cannot change its addresses after the check.
   */
  lookup: LookupFunction;
  /**
   * Every connection goes through this proxy, by CONNECT. Names are resolved by the proxy, whose rules decide which
   * addresses they may have; `checkUrl` still decides on schemes, ports and literal addresses.
   */
  proxy: string | undefined;
  /** Resolves the name of a URL. Returns warnings for the operator who registers it; empty if there are none. */
  explain(url: string): Promise<string[]>;
};

export type EgressOptions = {
  /** Allow plain http too (`WEBHOOK_ALLOW_HTTP`). */
  allowHttp: boolean;
  /** CIDRs to allow although they are not public (`WEBHOOK_ALLOW_NETWORKS`). */
  allowNetworks: readonly string[];
  /** CIDRs to refuse, also public and allowed ones (`WEBHOOK_DENY_NETWORKS`). */
  denyNetworks?: readonly string[];
  /** The only ports to connect to (`WEBHOOK_PORTS`). Empty: any. */
  ports?: readonly number[];
  /** The proxy of all calls (`WEBHOOK_PROXY`). */
  proxy?: string | undefined;
  /** Finds all addresses of a name. Default: `dns.lookup`. */
  resolve?: Resolve;
};

/** Error code of `lookup`: the name has addresses, and none is allowed. */
export const NO_ALLOWED_ADDRESS = 'ERR_NO_ALLOWED_ADDRESS';

/**
 * Most addresses of a name that a call tries, of each family. One DNS answer has up to 4,000: connections that are refused
 * took 0.6 s of CPU time a call.
 */
const ADDRESSES_MAX = 8;

const LOOPBACK = ['127.0.0.1', '::1'];
const HINT = 'WEBHOOK_ALLOW_NETWORKS opens networks for development';

const parseAllowed = (text: string): Network => {
  const network = parseNetwork(text);
  if (network === null) throw new UsageError(`"${text}" is not a network: use a CIDR such as 127.0.0.0/8`);
  return network;
};

/**
 * Creates the policy: only public unicast addresses and those of `allowNetworks`. Create one per process.
 *
 * @throws UsageError if an entry of `allowNetworks` is not a CIDR
 */
export const createEgressPolicy = (options: EgressOptions): EgressPolicy => {
  const { allowHttp, allowNetworks, denyNetworks = [], ports = [], proxy, resolve = systemLookup } = options;
  const lookUpAll = shareLookups(resolve);
  const isForbidden = createForbiddenCheck(allowNetworks.map(parseAllowed), denyNetworks.map(parseAllowed));

  const checkUrl = (text: string): UrlVerdict => {
    const refuse = (reason: string): UrlVerdict => ({ ok: false, reason });
    const url = URL.parse(text);
    if (url === null) return refuse('it is not a URL');
    if (url.protocol === 'http:' && !allowHttp) {
      const settings =
        'WEBHOOK_ALLOW_HTTP=true for development (and WEBHOOK_ALLOW_NETWORKS for a private address)';
      return refuse(`it is plain http: use https, or set ${settings}`);
    }
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('its scheme is not https');
    if (url.username !== '' || url.password !== '') {
      return refuse('it has credentials: only the access token is sent');
    }
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    if (ports.length > 0 && !ports.includes(port)) return refuse(`port ${port} is none of WEBHOOK_PORTS`);
    // URL.parse has normalized every spelling of an address (decimal, octal, hex, short, fullwidth).
    const host = hostOf(url);
    if (isIP(host) !== 0 && isForbidden(host))
      return refuse(`${host} is not a public address, or is denied; ${HINT}`);
    if (isLocalhost(host) && LOOPBACK.every(isForbidden)) return refuse(`${host} is this machine; ${HINT}`);
    return { ok: true, url };
  };

  const lookup: LookupFunction = (hostname, lookupOptions, done) => {
    lookUpAll(hostname, { ...lookupOptions, all: true }, (error, addresses) => {
      if (error !== null) return done(error, []);
      const byFamily = Map.groupBy(
        addresses.filter(({ address }) => !isForbidden(address)),
        ({ family }) => family,
      );
      const allowed = [...byFamily.values()].flatMap((ofFamily) => ofFamily.slice(0, ADDRESSES_MAX));
      const [first] = allowed;
      if (first === undefined) {
        const none = new Error(`no address of ${hostname} is allowed`);
        return done(Object.assign(none, { code: NO_ALLOWED_ADDRESS }), []);
      }
      return lookupOptions.all ? done(null, allowed) : done(null, first.address, first.family);
    });
  };

  const explain = async (text: string): Promise<string[]> => {
    const verdict = checkUrl(text);
    if (!verdict.ok) return [`this address is refused: ${verdict.reason}`];
    const host = hostOf(verdict.url);
    if (isIP(host) !== 0 || proxy !== undefined) return [];
    const addresses = await new Promise<LookupAddress[]>((found) => {
      lookUpAll(host, { all: true }, (error, all) => found(error === null ? all : []));
    });
    if (addresses.length === 0) return [`${host} does not resolve to any address from here`];
    return addresses
      .filter(({ address }) => isForbidden(address))
      .map(
        ({ address }) =>
          `${host} resolves to ${address}, which is refused: it is not public, or is denied; ${HINT}`,
      );
  };

  return { checkUrl, lookup, proxy, explain };
};

/** The host without the brackets of IPv6 and without a trailing dot. */
const hostOf = (url: URL): string => url.hostname.replace(/[[\]]/g, '').replace(/\.$/, '');

const isLocalhost = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost');
