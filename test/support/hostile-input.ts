/** Input that no browser sends: for every route of a site, in its path, its query and its form. */
import type { FastifyInstance } from 'fastify';

const UUID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';

/** Percent-encoded, as in an address or a form. Each row is what one check refuses. */
const HOSTILE = [
  [''],
  ['%00', 'a%00b', `%00${UUID.slice(1)}`],
  ['%ED%A0%80', '%C0%80', '%FF', '%', '%u0000'],
  ['-1', '0', '-0', '1.5', '0x10', 'NaN', 'Infinity'],
  ['2147483648', '99999999999'],
  ['9223372036854775808', '1e308', '1e400', '9'.repeat(60)],
  ['null', '__proto__', 'constructor', '%5Bobject+Object%5D'],
  ["'%22%3B--", '..%2F..%2F', '%E2%80%AE'],
  ['x'.repeat(3_000), '%F0%9F%98%80'.repeat(200)],
  ['0000-00-00', '2026-02-31', '9999-12-31'],
  [UUID, UUID.toUpperCase()],
  [`999999999999999_${UUID}`, `0_${UUID}`, `${UUID}@999999999`],
];

/** Queries of another shape: repeated, nested, without names. */
const SHAPES = [
  '&&==&',
  '%00=%00',
  '%=%',
  '=1',
  `a${'&a'.repeat(2_000)}`,
  '[]=1&[x][y]=2',
  '__proto__=1&constructor=1',
];

type Rows = readonly (readonly string[])[];

/** Takes the next of each row at each call. */
const takeTurns = (rows: Rows): (() => string[]) => {
  let turn = 0;
  return () => {
    turn += 1;
    return rows.map((row) => row[turn % row.length] ?? '');
  };
};

const takeAll = (rows: Rows) => (): string[] => rows.flat();

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
const pathsOf = ({ path }: Route, known: Record<string, string>, next: () => string[]): string[] => {
  const names = path.match(/:\w+|\*/g) ?? [];
  const fill = (hostile?: string, at?: string): string =>
    path.replaceAll(/:\w+|\*/g, (name) => (name === at ? (hostile ?? '') : (known[name] ?? UUID)));
  return [fill(), ...names.flatMap((name) => next().map((value) => fill(value, name)))];
};

/** @param parts what to send for some fields, encoded; the others as in `base` */
const fillFields = (base: Record<string, string>, parts: Record<string, string> = {}): string =>
  Object.entries(base)
    .map(([name, value]) => parts[name] ?? `${name}=${encodeURIComponent(value)}`)
    .join('&');

/** One parameter or field at a time is hostile, because one that is refused hides the others. */
const hostileFields = (base: Record<string, string>, next: () => string[]): string[] =>
  Object.keys(base).flatMap((name) =>
    [
      ...next().map((value) => `${name}=${value}`),
      `${name}=1&${name}=2`,
      `${name}[x]=1`,
      `${name}[]=1`,
      name,
    ].map((part) => fillFields(base, { [name]: part })),
  );

export type HostileRequest = { method: string; path: string; form?: string };

/** Fields by the path of their route. */
export type Fields = Record<string, Record<string, string>>;

/**
 * @param known ids that exist, by the name of their parameter
 * @param valid the parameters that each GET route reads, and a form that each other route accepts
 * @param isWhole each parameter gets all values; else one of each row, the next parameter the next one
 */
export const hostileRequests = (
  routes: readonly Route[],
  known: Record<string, string>,
  { queries, forms }: { queries: Fields; forms: Fields },
  isWhole: boolean,
): HostileRequest[] => {
  const take = isWhole ? takeAll : takeTurns;
  const next = take(HOSTILE);
  const nextShapes = take([SHAPES.slice(0, 4), SHAPES.slice(4)]);
  return routes.flatMap((route): HostileRequest[] => {
    const { method } = route;
    const paths = pathsOf(route, known, next);
    const [valid = ''] = paths;
    if (method === 'GET') {
      const sent = [...nextShapes(), ...hostileFields(queries[route.path] ?? {}, next)];
      return [...paths, ...sent.map((query) => `${valid}?${query}`)].map((path) => ({ method, path }));
    }
    const base = forms[route.path] ?? {};
    const form = fillFields(base);
    const sent = [
      form,
      ...nextShapes().flatMap((shape) => [shape, `${form}&${shape}`]),
      ...hostileFields(base, next),
    ];
    return [
      ...paths.map((path) => ({ method, path, form: new URLSearchParams(base).toString() })),
      ...sent.map((each) => ({ method, path: valid, form: each })),
    ];
  });
};

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
