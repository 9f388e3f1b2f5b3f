import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { ApplicationSettings } from '#db/queries/applications.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatDuration } from '#src/cli/kit/format.ts';
import { durationBetween, integerBetween, parseName } from '#src/cli/kit/parsers.ts';
import { UsageError } from '#src/errors.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const parseInterval = durationBetween(MINUTE_MS, 30 * DAY_MS);
const parseMaxAge = durationBetween(MINUTE_MS, 365 * DAY_MS);

/** The settings that `app add` has a default for. */
export const DEFAULTS = {
  every_ms: 15 * MINUTE_MS,
  kyc_every_ms: DAY_MS,
  detail_max_age_ms: DAY_MS,
  concurrency: 8,
  rate: 50,
};

type Setting = readonly [flags: string, description: string, parse: (text: string) => string | number];

/** The option that sets each column of `applications`. */
const SETTINGS: Record<keyof ApplicationSettings, Setting> = {
  name: ['--name <name>', 'display name', parseName],
  query_game_list_webhook: ['--query-game-list-webhook <url>', 'URL of its game.queryList', String],
  query_game_detail_webhook: ['--query-game-detail-webhook <url>', 'URL of its game.queryDetail', String],
  query_cp_kyc_webhook: ['--query-cp-kyc-webhook <url>', 'URL of its cp.queryKYC', String],
  every_ms: ['--every <duration>', 'interval between pulls of its games', parseInterval],
  kyc_every_ms: ['--kyc-every <duration>', 'interval between pulls of its KYC record', parseInterval],
  detail_max_age_ms: ['--detail-max-age <duration>', 'age at which a detail is fetched again', parseMaxAge],
  concurrency: ['--concurrency <calls>', 'maximum number of concurrent detail calls', integerBetween(1, 100)],
  rate: [
    '--rate <calls>',
    'maximum number of detail calls per second, and of page calls',
    integerBetween(1, 100_000),
  ],
};

/** Adds an option for each setting. Of `app add` they are required or have a default, of `app update` optional. */
export const addSettings = (command: CommandUnknownOpts, name: 'add' | 'update'): void => {
  for (const [column, [flags, description, parse]] of Object.entries(SETTINGS)) {
    const option = new Option(flags, description).argParser(parse);
    const value = (DEFAULTS as Partial<Record<string, number>>)[column];
    if (name === 'add' && value === undefined) option.makeOptionMandatory();
    if (name === 'add' && value !== undefined)
      option.default(value, column.endsWith('_ms') ? formatDuration(value) : String(value));
    command.addOption(option);
  }
};

/** The columns that the given options set: all of them for `app add`. */
export const toSettings = (options: Record<string, unknown>): Partial<ApplicationSettings> =>
  Object.fromEntries(
    Object.entries(SETTINGS)
      .map(([column, [flags]]) => [column, options[new Option(flags).attributeName()]])
      .filter(([, value]) => value !== undefined),
  );

/**
 * Warns about webhooks that workers with this machine's settings refuse to call. Only a worker decides: it checks the
 * address at each call, with its own settings.
 * @throws UsageError when one is no http(s) URL
 */
export const checkWebhooks = async (
  { config, out }: CommandContext,
  settings: Partial<ApplicationSettings> & { events_webhook?: string | undefined },
): Promise<void> => {
  const { createEgressPolicy } = await import('#src/egress/egress.ts');
  const egress = createEgressPolicy(config.webhooks);
  const columns = [
    'query_game_list_webhook',
    'query_game_detail_webhook',
    'query_cp_kyc_webhook',
    'events_webhook',
  ] as const;
  for (const column of columns) {
    const text = settings[column];
    if (text === undefined) continue;
    const option = `--${column.replaceAll('_', '-')}`;
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
      throw new UsageError(
        `${option} must be an https URL (or http, with WEBHOOK_ALLOW_HTTP=true) without a user or password.`,
      );
    }
    for (const warning of await egress.explain(text)) out.note(`warning: ${option}: ${warning}`);
  }
};
