/** What an operator sets for an application, as the command line, the operator API and `apply` name it. */
import { z } from 'zod';
import { storableText, URL_MAX } from '#src/contract/text.ts';
import { REVIEW_PRIORITIES } from '#src/contract/words.ts';
import { DAY_MS, formatDuration, MINUTE_MS, parseDuration } from '#src/lib/duration.ts';

/** The operator's own short name of an application. */
export const applicationId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and "-", at most 63 characters');

const NAME_MAX = 200;
/** Visible ASCII: bearer tokens (RFC 6750), and others that some servers issue. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

/** A duration such as `15m`, as milliseconds. */
export const duration = (minMs: number, maxMs: number) =>
  z.string().transform((text, { addIssue }) => {
    const ms = parseDuration(text);
    if (ms >= minMs && ms <= maxMs) return ms;
    addIssue(
      `must be a duration such as 15m, 24h or 90d, from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`,
    );
    return z.NEVER;
  });

/** An address that the platform calls. The worker checks at each call whether it is allowed (src/egress/egress.ts). */
export const webhookUrl = z
  .string()
  .max(URL_MAX)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  }, 'must be an https URL (or http, with WEBHOOK_ALLOW_HTTP=true) without a user or password');

export const accessToken = z
  .string()
  .regex(TOKEN, 'must be one line of visible ASCII characters, without spaces');

const VOLATILE_MAX = 20;

/** The name of a parameter in an address, as it is written there, not decoded. */
const parameterName = z
  .string()
  .regex(/^[\w.~!$'()*,;:@%[\]-]{1,100}$/, 'must be the name of a parameter in an address, such as t');

/** The name by which pages and lists show an application, an operator or a token. */
export const displayName = storableText(NAME_MAX).trim().min(1, 'must not be empty');

/** The settings with a column of `applications` each. */
export const applicationSettings = z.object({
  name: displayName,
  query_game_list_webhook: webhookUrl,
  query_game_detail_webhook: webhookUrl,
  query_cp_kyc_webhook: webhookUrl,
  every: duration(MINUTE_MS, 30 * DAY_MS),
  kyc_every: duration(MINUTE_MS, 30 * DAY_MS),
  detail_max_age: duration(MINUTE_MS, 365 * DAY_MS),
  concurrency: z.int().min(1).max(100),
  rate: z.int().min(1).max(100_000),
  /** Parameters of addresses that are no part of their identity. */
  volatile_parameters: z
    .array(parameterName)
    .max(VOLATILE_MAX, `must be at most ${VOLATILE_MAX} names`)
    .transform((names) => [...new Set(names)].toSorted()),
  review_priority: z.enum(REVIEW_PRIORITIES),
});

type Settings = z.infer<typeof applicationSettings>;

/** Converts settings to columns, whose durations are in milliseconds. */
export const toColumns = (settings: Partial<Settings>) => {
  const { every, kyc_every, detail_max_age, ...others } = settings;
  return {
    ...others,
    ...(every !== undefined && { every_ms: every }),
    ...(kyc_every !== undefined && { kyc_every_ms: kyc_every }),
    ...(detail_max_age !== undefined && { detail_max_age_ms: detail_max_age }),
  };
};
