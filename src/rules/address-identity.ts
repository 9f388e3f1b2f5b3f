/**
 * Signed addresses of pictures and videos. Servers sign an address again in each response; its identity is the address
 * without the parameters that sign or time it (url-signers.ts), so it stays the same.
 */
import { hash } from 'node:crypto';
import { URL_SIGNERS, type UrlSigner } from '#src/rules/url-signers.ts';

/** How the addresses of one application are compared. */
export type IdentityRule = {
  /** Names of parameters that an operator has found to be without meaning: `app update --volatile-parameter`. */
  volatile: ReadonlySet<string>;
  /** Names the rule in hashes of what it compares. Two rules are equal if their tags are. */
  tag: string;
};

const TAG_LENGTH = 6;

const TABLE = JSON.stringify(
  URL_SIGNERS.map(({ required, optional = [] }) => [
    Object.entries(required).map(([name, form]) => [name, form.source]),
    optional,
  ]),
);

export const identityRule = (volatile_parameters: readonly string[]): IdentityRule => {
  const volatile = new Set(volatile_parameters);
  const text = `${JSON.stringify([...volatile].toSorted())}${TABLE}`;
  return { volatile, tag: hash('sha256', text, 'base64url').slice(0, TAG_LENGTH) };
};

type Parameter = { raw: string; name: string; value: string };
type Parts = {
  base: string;
  parameters: readonly Parameter[];
  byName: ReadonlyMap<string, readonly Parameter[]>;
  fragment: string;
};

const toParameter = (raw: string): Parameter => {
  const at = raw.indexOf('=');
  return at === -1
    ? { raw, name: raw, value: '' }
    : { raw, name: raw.slice(0, at), value: raw.slice(at + 1) };
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The parts of an address with a query; undefined for one without. */
const partsOf = (address: string): Parts | undefined => {
  const hashAt = address.indexOf('#');
  const end = hashAt === -1 ? address.length : hashAt;
  const queryAt = address.indexOf('?');
  if (queryAt === -1 || queryAt > end) return undefined;
  const raw = address.slice(queryAt + 1, end).split('&');
  const parameters = raw.map(toParameter);
  const byName = Map.groupBy(parameters, ({ name }) => name);
  return { base: address.slice(0, queryAt), parameters, byName, fragment: address.slice(end) };
};

/** Is the whole set of a signer there, each parameter once and in its form? */
const isSignedBy = ({ required, optional = [] }: UrlSigner, { byName }: Parts): boolean =>
  Object.entries(required).every(([name, form]) => {
    const [first, ...others] = byName.get(name) ?? [];
    return first !== undefined && others.length === 0 && form.test(decode(first.value));
  }) && optional.every((name) => (byName.get(name)?.length ?? 0) <= 1);

const signersOf = (parts: Parts): UrlSigner[] => URL_SIGNERS.filter((signer) => isSignedBy(signer, parts));

const namesOf = ({ required, optional = [] }: UrlSigner): string[] => [...Object.keys(required), ...optional];

/** The names of an address's parameters that sign or time it, or that an operator has named. */
const namesWithoutMeaning = (parts: Parts, { volatile }: IdentityRule): ReadonlySet<string> =>
  new Set([...volatile, ...signersOf(parts).flatMap(namesOf)]);

/**
 * An address without the parameters that sign or time it. Scheme, host, path, fragment and every other parameter count,
 * with their order. An address without such parameters is its own identity.
 */
export const addressIdentity = (address: string, rule: IdentityRule): string => {
  const parts = partsOf(address);
  if (parts === undefined) return address;
  const dropped = namesWithoutMeaning(parts, rule);
  const kept = parts.parameters.filter(({ name }) => !dropped.has(name));
  if (kept.length === parts.parameters.length) return address;
  const query = kept.length === 0 ? '' : `?${kept.map(({ raw }) => raw).join('&')}`;
  return parts.base + query + parts.fragment;
};

/** The year 9999, because a larger number is no time of Postgres's or JavaScript's. */
const SECONDS_MAX = 253_402_300_799;

/** Reads the end of an address from its parameters; undefined if they have none. */
export const addressEnd = (address: string): Date | undefined => {
  const parts = partsOf(address);
  if (parts === undefined) return undefined;
  const read = (name: string) => decode(parts.byName.get(name)?.[0]?.value ?? '');
  const ends = signersOf(parts)
    .map(({ end }) => end?.(read) ?? Number.NaN)
    .filter((seconds) => seconds >= 0 && seconds <= SECONDS_MAX);
  return ends.length === 0 ? undefined : new Date(Math.min(...ends) * 1_000);
};

/**
 * How one address differs from another of the same thing.
 *
 * - `same`: not at all.
 * - `signature`: they have the same identity; `by` names the signers, and the parameters of the operator's.
 * - `parameters`: their identities differ in the values of these parameters alone.
 * - `other`: in scheme, host, path, fragment, or the names or the order of parameters.
 */
export type AddressDifference =
  | { kind: 'same' | 'other' }
  | { kind: 'signature'; by: readonly string[] }
  | { kind: 'parameters'; names: readonly string[] };

export const compareAddresses = (one: string, other: string, rule: IdentityRule): AddressDifference => {
  if (one === other) return { kind: 'same' };
  const [before, after] = [partsOf(one), partsOf(other)];
  if (addressIdentity(one, rule) === addressIdentity(other, rule)) {
    const signers = [before, after].flatMap((parts) => (parts === undefined ? [] : signersOf(parts)));
    const named = [before, after].flatMap((parts) => parts?.parameters ?? []).map(({ name }) => name);
    const by = [...signers.map(({ name }) => name), ...named.filter((name) => rule.volatile.has(name))];
    return { kind: 'signature', by: [...new Set(by)] };
  }
  if (before === undefined || after === undefined) return { kind: 'other' };
  const meant = (parts: Parts) => {
    const dropped = namesWithoutMeaning(parts, rule);
    return parts.parameters.filter(({ name }) => !dropped.has(name));
  };
  const [had, has] = [meant(before), meant(after)];
  const hasSameForm =
    before.base === after.base &&
    before.fragment === after.fragment &&
    had.length === has.length &&
    had.every(({ name }, index) => name === has[index]?.name);
  if (!hasSameForm) return { kind: 'other' };
  const names = had.filter(({ raw }, index) => raw !== has[index]?.raw).map(({ name }) => name);
  return { kind: 'parameters', names: [...new Set(names)] };
};
