import { type Command, Option } from '@commander-js/extra-typings';
import type { ApplicationSettings } from '#db/queries/applications.ts';
import type { CommandContext } from '#src/cli/context.ts';
import { formatDuration } from '#src/cli/format.ts';
import { durationBetween, integerBetween, parseName } from '#src/cli/parsers.ts';
import { UsageError } from '#src/errors.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The settings that `app add` has a default for. */
export const DEFAULTS = {
  every_ms: 15 * MINUTE_MS,
  kyc_every_ms: DAY_MS,
  detail_max_age_ms: DAY_MS,
  concurrency: 8,
  rate: 50,
};

const parseInterval = durationBetween(MINUTE_MS, 30 * DAY_MS);
const parseMaxAge = durationBetween(MINUTE_MS, 365 * DAY_MS);

const createOptions = () => ({
  name: new Option('--name <name>', 'display name').argParser(parseName),
  queryGameList: new Option('--query-game-list-webhook <url>', 'URL of its game.queryList'),
  queryGameDetail: new Option('--query-game-detail-webhook <url>', 'URL of its game.queryDetail'),
  queryCpKyc: new Option('--query-cp-kyc-webhook <url>', 'URL of its cp.queryKYC'),
  tokenFile: new Option('--access-token-file <file>', 'file with the bearer token that we send ("-": stdin)'),
  tokenEnv: new Option('--access-token-env <variable>', 'environment variable with the bearer token'),
  every: new Option('--every <duration>', 'how often its games are pulled').argParser(parseInterval),
  kycEvery: new Option('--kyc-every <duration>', 'how often its KYC record is pulled').argParser(
    parseInterval,
  ),
  maxAge: new Option(
    '--detail-max-age <duration>',
    'age at which the detail of an unchanged game is fetched again',
  ).argParser(parseMaxAge),
  concurrency: new Option('--concurrency <calls>', 'detail calls in flight at once').argParser(
    integerBetween(1, 100),
  ),
  rate: new Option('--rate <calls>', 'detail calls started per second').argParser(integerBetween(1, 100_000)),
});

type RegistrationCommand = Command<[string], { json?: true }>;

/** Adds the options of `app update`: all are optional. */
export const addOptionalSettings = (command: RegistrationCommand) => {
  const options = createOptions();
  return command
    .addOption(options.name)
    .addOption(options.queryGameList)
    .addOption(options.queryGameDetail)
    .addOption(options.queryCpKyc)
    .addOption(options.tokenFile)
    .addOption(options.tokenEnv)
    .addOption(options.every)
    .addOption(options.kycEvery)
    .addOption(options.maxAge)
    .addOption(options.concurrency)
    .addOption(options.rate);
};

/** Adds the options of `app add`: required, or with a default. */
export const addRequiredSettings = (command: RegistrationCommand) => {
  const options = createOptions();
  const { every_ms, kyc_every_ms, detail_max_age_ms, concurrency, rate } = DEFAULTS;
  return command
    .addOption(options.name.makeOptionMandatory())
    .addOption(options.queryGameList.makeOptionMandatory())
    .addOption(options.queryGameDetail.makeOptionMandatory())
    .addOption(options.queryCpKyc.makeOptionMandatory())
    .addOption(options.tokenFile)
    .addOption(options.tokenEnv)
    .addOption(options.every.default(every_ms as number, formatDuration(every_ms)))
    .addOption(options.kycEvery.default(kyc_every_ms as number, formatDuration(kyc_every_ms)))
    .addOption(options.maxAge.default(detail_max_age_ms as number, formatDuration(detail_max_age_ms)))
    .addOption(options.concurrency.default(concurrency as number))
    .addOption(options.rate.default(rate as number));
};

type SettingOptions = ReturnType<ReturnType<typeof addOptionalSettings>['opts']>;

/** The option that sets each column of `applications`. */
const OPTION_OF_COLUMN = {
  name: 'name',
  query_game_list_webhook: 'queryGameListWebhook',
  query_game_detail_webhook: 'queryGameDetailWebhook',
  query_cp_kyc_webhook: 'queryCpKycWebhook',
  every_ms: 'every',
  kyc_every_ms: 'kycEvery',
  detail_max_age_ms: 'detailMaxAge',
  concurrency: 'concurrency',
  rate: 'rate',
} as const satisfies Record<keyof ApplicationSettings, keyof SettingOptions>;
type OptionOfColumn = typeof OPTION_OF_COLUMN;

/** The columns that the given options set. */
export const toSettings = <Options extends SettingOptions>(options: Options) =>
  Object.fromEntries(
    Object.entries(OPTION_OF_COLUMN)
      .map(([column, option]) => [column, options[option]])
      .filter(([, value]) => value !== undefined),
  ) as { [Column in keyof OptionOfColumn]: Options[OptionOfColumn[Column]] };

const WEBHOOK_OPTIONS = {
  query_game_list_webhook: '--query-game-list-webhook',
  query_game_detail_webhook: '--query-game-detail-webhook',
  query_cp_kyc_webhook: '--query-cp-kyc-webhook',
} as const;

/**
 * Warns about webhooks that workers with this machine's settings refuse to call. Only a worker decides: it checks the
 * address at each call, with its own settings.
 * @throws UsageError when one is no http(s) URL
 */
export const checkWebhooks = async (
  { config, out }: CommandContext,
  settings: Partial<ApplicationSettings>,
): Promise<void> => {
  const { createEgressPolicy } = await import('#src/webhooks/egress.ts');
  const egress = createEgressPolicy(config.webhooks);
  for (const [column, option] of Object.entries(WEBHOOK_OPTIONS)) {
    const text = settings[column as keyof typeof WEBHOOK_OPTIONS];
    if (text === undefined) continue;
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
      throw new UsageError(
        `${option} must be an https URL (or http, with WEBHOOK_ALLOW_HTTP=true) without a user or password.`,
      );
    }
    for (const warning of await egress.explain(text)) out.note(`warning: ${option}: ${warning}`);
  }
};
