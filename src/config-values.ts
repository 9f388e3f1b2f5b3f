/** The kinds of values that environment variables hold. A message names what a value should be, never a secret. */
import { z } from 'zod';
import { FOUR_EYES_KINDS, type FourEyes } from '#src/contract/approvals.ts';
import { ROLES, type Role } from '#src/contract/roles.ts';
import { parseNetwork } from '#src/egress/networks.ts';
import { DAY_MS, parseDuration } from '#src/lib/duration.ts';

/** The variables that have a value, without the white space around it, because a file of a Secret often ends with a line break. */
export const presentVariables = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env)
      .map(([name, value = '']) => [name, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );

export const flag = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], error: 'is neither true nor false' })
  .default(false);

/** Four times this (a low priority has four times REVIEW_TARGET) before or after now is still a year of four digits, as cursors need. */
const DURATION_MAX_MS = 100_000 * DAY_MS;

/** A duration such as `7d`, in milliseconds. */
export const duration = (fallback: string, minMs: number) =>
  z
    .string()
    .default(fallback)
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms >= minMs && ms <= DURATION_MAX_MS) return ms;
      context.addIssue(`is not a duration such as ${fallback}, of at least ${minMs / 1_000} s`);
      return z.NEVER;
    });

/** A whole number between two bounds. */
export const integer = (
  fallback: number,
  min: number,
  max: number,
  error = `is not a whole number from ${min} to ${max}`,
) => z.coerce.number(error).int(error).min(min, error).max(max, error).default(fallback);

export const port = (fallback: number) => integer(fallback, 0, 65_535, 'is not a port number');

/** Parses with a function that throws; its message becomes the issue. */
export const parsed = <Out>(parse: (text: string) => Out) =>
  z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue(error instanceof Error ? error.message.replace(/^[A-Z_]+:? /, '') : 'is not valid');
      return z.NEVER;
    }
  });

/** Validates with a function that throws, and keeps the text. */
export const validatedBy = (parse: (text: string) => unknown) =>
  parsed((text) => {
    parse(text);
    return text;
  });

/** A comma-separated list. Reports each invalid entry. */
export const commaSeparated = (isEntry: (text: string) => boolean, what: string) =>
  z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .superRefine((list, context) => {
      for (const entry of list) if (!isEntry(entry)) context.addIssue(`"${entry}" is not ${what}`);
    });

export const isCidr = (text: string): boolean => text.includes('/') && parseNetwork(text) !== null;

/** Rejects a prefix of 0, because it would trust the `X-Forwarded-For` of any client. */
export const isProxy = (text: string): boolean => (parseNetwork(text)?.prefix ?? 0) > 0;

export const isPort = (text: string): boolean =>
  /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) <= 65_535;

const succeeds = (work: () => unknown): boolean => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};

export const timeZone = z
  .string()
  .default('UTC')
  .refine((zone) => succeeds(() => new Intl.DateTimeFormat('en', { timeZone: zone })), {
    error: 'is not a time zone such as UTC or Asia/Shanghai',
  });

export const databaseUrl = z
  .string()
  .refine((text) => /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? ''), {
    error: 'is not postgres://user:password@host:5432/database',
    abort: true,
  })
  .refine((text) => succeeds(() => decodeURIComponent(text)), {
    error: 'has a "%" that is not percent-encoded: write it as %25',
    abort: true,
  })
  .superRefine((text, context) => {
    for (const [name, value] of new URL(text).searchParams) {
      const isVerified = value === 'verify-full' || value === 'disable';
      if (/^ssl(mode)?$/i.test(name) && !isVerified)
        context.addIssue(
          `has ${name}=${value}, with which the driver does not verify the server: write sslmode=verify-full (a certificate authority of your own: NODE_EXTRA_CA_CERTS), or sslmode=disable on a network that you trust`,
        );
    }
  });

export const httpUrlSetting = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
  error: 'is not an address with http:// or https://, such as https://host.example:3128',
  abort: true,
});

/** The public address of a site: every page of it is below the root of its host. */
export const siteUrl = httpUrlSetting.refine(
  (text) => URL.parse(text)?.href === `${URL.parse(text)?.origin}/`,
  'has more than a scheme, a host and a port: a site has a host of its own, such as https://console.example',
);

/** Where people reach somebody: an email address, or a page. @returns the address of a link */
export const contact = z.string().transform((text, context) => {
  if (z.email().safeParse(text).success) return `mailto:${text}`;
  if (httpUrlSetting.safeParse(text).success) return text;
  context.addIssue('is no email address, and no address with http:// or https://');
  return z.NEVER;
});

/** The URL of a server for a client on its machine. One that listens on every address is at the loopback address. */
export const localUrl = (listenHost: string, listenPort: number): string => {
  const host = listenHost === '0.0.0.0' || listenHost === '::' ? '127.0.0.1' : listenHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${listenPort}`;
};

/** Is this a host of this machine alone? */
export const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);

/** Is this the address of a server on this machine? */
export const isLoopbackUrl = (text: string): boolean => isLoopbackHost(new URL(text).hostname);

/** Parses `none`, or what takes two persons: `reveal,erase`. */
export const parseFourEyes = (text: string): FourEyes => {
  const words = text.split(',').map((word) => word.trim());
  if (words.length === 1 && words[0] === 'none') return { kinds: [], onceTwo: false };
  const unknown = words.find((word) => !FOUR_EYES_KINDS.some((kind) => kind === word));
  if (unknown !== undefined)
    throw new Error(`has "${unknown}": give none, or some of ${FOUR_EYES_KINDS.join(', ')}`);
  return { kinds: FOUR_EYES_KINDS.filter((kind) => words.includes(kind)), onceTwo: false };
};

/** Parses `group=role,group=role`. A group may have several roles. */
export const parseRoleMap = (text: string): Map<string, Role[]> => {
  const roles = new Map<string, Role[]>();
  for (const pair of text.split(',').map((part) => part.trim())) {
    const at = pair.lastIndexOf('=');
    const role = ROLES.find((each) => each === pair.slice(at + 1).trim());
    const group = pair.slice(0, Math.max(0, at)).trim();
    if (role === undefined || group === '')
      throw new Error(`"${pair}" is not group=role with one of the roles ${ROLES.join(', ')}`);
    roles.set(group, [...(roles.get(group) ?? []), role]);
  }
  return roles;
};
