import type { Command } from 'commander';
import type { ApplicationSettings } from '#db/queries/applications.ts';
import type { CommandContext } from '#src/cli/frame.ts';
import { displayName, duration, integer } from '#src/cli/values.ts';
import { UsageError } from '#src/errors.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const every = duration({ minMs: MINUTE_MS, maxMs: 30 * DAY_MS });
const age = duration({ minMs: MINUTE_MS, maxMs: 365 * DAY_MS });

/** As commander reads them. */
export type SettingOptions = {
  json?: boolean;
  name?: string;
  queryGameListWebhook?: string;
  queryGameDetailWebhook?: string;
  queryCpKycWebhook?: string;
  accessTokenFile?: string;
  accessTokenEnv?: string;
  every?: number;
  kycEvery?: number;
  detailMaxAge?: number;
  concurrency?: number;
  rate?: number;
};

/** What `add` takes where nothing is said. */
export const DEFAULTS = {
  every_ms: 15 * MINUTE_MS,
  kyc_every_ms: DAY_MS,
  detail_max_age_ms: DAY_MS,
  concurrency: 8,
  rate: 50,
};

/** The options that `add` and `update` share. */
export const withSettings = (command: Command, required: boolean): Command => {
  const option = required ? command.requiredOption.bind(command) : command.option.bind(command);
  const standard = (text: string, fallback: string) => (required ? `${text} (default ${fallback})` : text);
  option('--name <name>', 'name people know it by', displayName);
  option('--query-game-list-webhook <url>', 'address of its game.queryList');
  option('--query-game-detail-webhook <url>', 'address of its game.queryDetail');
  option('--query-cp-kyc-webhook <url>', 'address of its cp.queryKYC');
  return command
    .option('--access-token-file <file>', 'file that holds the bearer token we send ("-" reads stdin)')
    .option('--access-token-env <variable>', 'environment variable that holds it')
    .option('--every <span>', standard('how often its games are pulled', '15m'), every)
    .option('--kyc-every <span>', standard("how often its developer's record is pulled", '24h'), every)
    .option(
      '--detail-max-age <span>',
      standard('after how long an unchanged game is asked for again', '24h'),
      age,
    )
    .option(
      '--concurrency <calls>',
      standard('detail calls in flight at once', '8'),
      integer({ min: 1, max: 100 }),
    )
    .option(
      '--rate <calls>',
      standard('detail calls started per second', '50'),
      integer({ min: 1, max: 100_000 }),
    );
};

/** The settings that these options name. */
export const readSettings = (options: SettingOptions): Partial<ApplicationSettings> => {
  const settings: { [K in keyof ApplicationSettings]: ApplicationSettings[K] | undefined } = {
    name: options.name,
    query_game_list_webhook: options.queryGameListWebhook,
    query_game_detail_webhook: options.queryGameDetailWebhook,
    query_cp_kyc_webhook: options.queryCpKycWebhook,
    every_ms: options.every,
    kyc_every_ms: options.kycEvery,
    detail_max_age_ms: options.detailMaxAge,
    concurrency: options.concurrency,
    rate: options.rate,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
};

const webhooksOf = (settings: Partial<ApplicationSettings>): [option: string, url: string][] =>
  [
    ['--query-game-list-webhook', settings.query_game_list_webhook],
    ['--query-game-detail-webhook', settings.query_game_detail_webhook],
    ['--query-cp-kyc-webhook', settings.query_cp_kyc_webhook],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined);

/**
 * Refuse what is no http(s) URL; warn of what workers would refuse to call as things stand here. The law is
 * at the dial: what is registered from one machine may be called from another with other settings.
 */
export const checkWebhooks = async (
  { config, out }: CommandContext,
  settings: Partial<ApplicationSettings>,
) => {
  const { createEgressPolicy } = await import('#src/webhooks/egress.ts');
  const egress = createEgressPolicy(config.webhooks);
  for (const [option, text] of webhooksOf(settings)) {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
      throw new UsageError(
        `${option} must be an https URL (or http, with WEBHOOK_ALLOW_HTTP=true) without a user or password.`,
      );
    }
    for (const warning of await egress.explain(text)) out.note(`warning: ${option}: ${warning}`);
  }
};
