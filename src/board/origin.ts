import type { IncomingHttpHeaders } from 'node:http';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Does this method change something (RFC 9110, section 9.2.1)? */
export const changesState = (method: string): boolean => !SAFE_METHODS.has(method);

/**
 * Did a page of another origin make a browser send this state-changing request? Browsers say so in
 * `Sec-Fetch-Site`, and where they do not send that (plain http off this machine) in `Origin`. A request
 * with neither comes from no browser, so nobody's cookie was borrowed for it.
 */
export const isForged = (method: string, headers: IncomingHttpHeaders): boolean => {
  if (!changesState(method)) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin, host } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host?.toLowerCase();
};
