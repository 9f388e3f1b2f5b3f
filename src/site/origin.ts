import type { IncomingHttpHeaders } from 'node:http';

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Does this method change state (RFC 9110, section 9.2.1)? */
export const changesState = (method: string): boolean => !SAFE_METHODS.has(method);

/** What a request that a page of another origin made is answered. */
export const FROM_ANOTHER_SITE = 'The request came from another site.';

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
  // No URL parser, because it takes time quadratic in the characters of a host.
  return origin.toLowerCase().replace(/^https?:\/\//, '') !== host?.toLowerCase();
};

/** Most characters of a path that a form or a header names. */
const PATH_MAX = 1_024;

/**
 * @returns the path if it belongs to this site and has at most `PATH_MAX` characters, else `/`, so that no link or
 * redirect leads to another site
 */
export const localPath = (path: string): string => {
  if (path.length > PATH_MAX) return '/';
  const here = 'http://console.invalid';
  if (!URL.canParse(path, here)) return '/';
  const { origin, pathname, search, searchParams } = new URL(path, here);
  // "/.//elsewhere" resolves to "//elsewhere", which names another host. The path of a "blob:" address is an address.
  const isPath = origin === here && /^\/(?!\/)/.test(pathname);
  // A sign-in link would sign in as somebody else.
  return isPath && !searchParams.has('link') ? `${pathname}${search}` : '/';
};

/** Returns the path of the page whose form was sent. Undefined: the browser does not name it, or it is of another site. */
export const pathOfForm = ({ referer }: IncomingHttpHeaders, host: string): string | undefined => {
  const path = referer?.split(`://${host}/`, 2)[1];
  return path === undefined ? undefined : localPath(`/${path}`);
};
