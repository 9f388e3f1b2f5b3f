/** Input that no browser sends: for every route of a site, in its path, its query and its form. */
import type { FastifyInstance } from 'fastify';

const UUID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';

/** Percent-encoded, as in an address or a form. */
const HOSTILE = [
  '',
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%C0%80',
  '%FF',
  '%',
  '%u0000',
  '-1',
  '0',
  '2147483648',
  '99999999999',
  '9223372036854775808',
  '1e308',
  '1e400',
  '-0',
  'NaN',
  'Infinity',
  '1.5',
  '0x10',
  'null',
  '__proto__',
  'constructor',
  '%5Bobject+Object%5D',
  "'%22%3B--",
  '..%2F..%2F',
  '%E2%80%AE',
  '9'.repeat(60),
  'x'.repeat(3_000),
  '%F0%9F%98%80'.repeat(200),
  '0000-00-00',
  '2026-02-31',
  '9999-12-31',
  UUID,
  UUID.toUpperCase(),
  `%00${UUID.slice(1)}`,
  `999999999999999_${UUID}`,
  `0_${UUID}`,
  `${UUID}@999999999`,
];

/** Queries of another shape: repeated, nested, without names. */
const SHAPES = ['&&==&', '%00=%00', '%=%', '=1', `a${'&a'.repeat(2_000)}`, '[]=1&[x][y]=2'];

export type Route = { method: string; path: string };

/** The routes of a server, without those for HEAD, which answer as GET does. */
export const listRoutes = (app: FastifyInstance): Route[] => {
  const parts: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^((?:│ {3}| {4})*)[├└]── (.*) \((.*)\)$/.exec(line) ?? [];
      const depth = indent.length / 4;
      parts.splice(depth, parts.length, part);
      const path = parts.slice(0, depth + 1).join('');
      return methods
        .split(', ')
        .filter((method) => method !== '' && method !== 'HEAD' && method !== 'OPTIONS')
        .map((method) => ({ method, path }));
    });
};

/** The hostile paths of a route; the ids of `known` for the others of its parameters. */
const pathsOf = ({ path }: Route, known: Record<string, string>): string[] => {
  const names = path.match(/:\w+|\*/g) ?? [];
  const fill = (hostile?: string, at?: string): string =>
    path.replaceAll(/:\w+|\*/g, (name) => (name === at ? (hostile ?? '') : (known[name] ?? UUID)));
  return [fill(), ...names.flatMap((name) => HOSTILE.map((value) => fill(value, name)))];
};

/** @param parts what to send for some fields, encoded; the others as in `base` */
const fillFields = (base: Record<string, string>, parts: Record<string, string> = {}): string =>
  Object.entries(base)
    .map(([name, value]) => parts[name] ?? `${name}=${encodeURIComponent(value)}`)
    .join('&');

const hostileFields = (base: Record<string, string>, name: string): string[] =>
  [
    ...HOSTILE.map((value) => `${name}=${value}`),
    `${name}=1&${name}=2`,
    `${name}[x]=1`,
    `${name}[]=1`,
    name,
  ].map((part) => fillFields(base, { [name]: part }));

/** Queries: one parameter at a time is hostile, because one that is refused hides the others. */
const queriesOf = (base: Record<string, string>): string[] => [
  ...SHAPES,
  '__proto__=1&constructor=1',
  ...Object.keys(base).flatMap((name) => hostileFields(base, name)),
];

/** Forms: one field at a time is hostile. */
const formsOf = (base: Record<string, string>): string[] => {
  const valid = fillFields(base);
  return [
    valid,
    ...SHAPES.flatMap((shape) => [shape, `${valid}&${shape}`]),
    ...Object.keys(base).flatMap((name) => hostileFields(base, name)),
  ];
};

export type HostileRequest = { method: string; path: string; form?: string };

/** Fields by the path of their route. */
export type Fields = Record<string, Record<string, string>>;

/**
 * @param known ids that exist, by the name of their parameter
 * @param valid the parameters that each GET route reads, and a form that each other route accepts
 */
export const hostileRequests = (
  routes: readonly Route[],
  known: Record<string, string>,
  { queries, forms }: { queries: Fields; forms: Fields },
): HostileRequest[] =>
  routes.flatMap((route): HostileRequest[] => {
    const { method } = route;
    const paths = pathsOf(route, known);
    const [valid = ''] = paths;
    if (method === 'GET')
      return [...paths, ...queriesOf(queries[route.path] ?? {}).map((query) => `${valid}?${query}`)].map(
        (path) => ({ method, path }),
      );
    const base = forms[route.path] ?? {};
    return [
      ...paths.map((path) => ({ method, path, form: new URLSearchParams(base).toString() })),
      ...formsOf(base).map((form) => ({ method, path: valid, form })),
    ];
  });

/** Sends the requests, some at once. @returns those that a server error answered */
export const findServerErrors = async (
  url: string,
  cookie: string,
  requests: readonly HostileRequest[],
): Promise<string[]> => {
  const found: string[] = [];
  const queue = requests.values();
  const work = async (): Promise<void> => {
    for (const { method, path, form } of queue) {
      const answer = await fetch(new URL(url).origin + path, {
        method,
        redirect: 'manual',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        ...(form !== undefined && { body: form }),
      });
      await answer.arrayBuffer();
      if (answer.status >= 500)
        found.push(`${answer.status} ${method} ${path.slice(0, 200)} ${(form ?? '').slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return found;
};
