import type { IncomingHttpHeaders } from 'node:http';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Does this method change state (RFC 9110, section 9.2.1)? */
export const changesState = (method: string): boolean => !SAFE_METHODS.has(method);

/** Did a page of another origin lead a browser to send this request? Undefined: the browser does not say. */
export const isLedFromElsewhere = (headers: IncomingHttpHeaders): boolean | undefined => {
  const site = headers['sec-fetch-site'];
  return site === undefined ? undefined : site !== 'same-origin' && site !== 'none';
};

/**
 * Did a page of another origin make a browser send this state-changing request? Browsers send `Sec-Fetch-Site`, or,
 * over plain http to another machine, `Origin`. A request with neither header does not come from a browser.
 */
export const isForged = (method: string, headers: IncomingHttpHeaders): boolean => {
  if (!changesState(method)) return false;
  const isLed = isLedFromElsewhere(headers);
  if (isLed !== undefined) return isLed;
  const { origin, host } = headers;
  if (origin === undefined) return false;
  // A URL parser takes time quadratic in the characters of a host.
  return origin.toLowerCase().replace(/^https?:\/\//, '') !== host?.toLowerCase();
};
