import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { z } from 'zod';
import type { CommandContext } from '#src/cli/kit/context.ts';
import type { applicationSettings } from '#src/contract/application-settings.ts';
import { SETTING_DEFAULTS } from '#src/contract/words.ts';

type Value = string | number | readonly string[];
type Setting = readonly [flags: string, description: string, parse: (text: string, before: unknown) => Value];

/** Adds a value of an option that takes several. */
const collect = (text: string, before: unknown): readonly string[] => [
  ...(Array.isArray(before) ? before : []),
  text,
];

/** The option of each setting. */
const SETTINGS: Record<keyof z.infer<typeof applicationSettings>, Setting> = {
  name: ['--name <name>', 'display name', String],
  query_game_list_webhook: ['--query-game-list-webhook <url>', 'URL of its game.queryList', String],
  query_game_detail_webhook: ['--query-game-detail-webhook <url>', 'URL of its game.queryDetail', String],
  query_cp_kyc_webhook: ['--query-cp-kyc-webhook <url>', 'URL of its cp.queryKYC', String],
  every: ['--every <duration>', 'interval between pulls of its games', String],
  kyc_every: ['--kyc-every <duration>', 'interval between pulls of its KYC record', String],
  detail_max_age: ['--detail-max-age <duration>', 'age at which a detail is fetched again', String],
  concurrency: ['--concurrency <calls>', 'maximum number of concurrent detail calls', Number],
  rate: ['--rate <calls>', 'maximum number of detail calls per second, and of page calls', Number],
  volatile_parameters: [
    '--volatile-parameter <name...>',
    'parameters of its addresses that only sign or time them: a change of them alone is none',
    collect,
  ],
  review_priority: [
    '--review-priority <priority>',
    'how soon its games are due: high (a quarter of REVIEW_TARGET), normal, low (four times of it)',
    String,
  ],
};

/** Adds an option for each setting: required or with a default for `app add`, optional for `app update`. */
export const addSettings = (command: CommandUnknownOpts, name: 'add' | 'update'): void => {
  for (const [setting, [flags, description, parse]] of Object.entries(SETTINGS)) {
    const option = new Option(flags, description).argParser(parse);
    const value = (SETTING_DEFAULTS as Partial<Record<string, Value>>)[setting];
    if (name === 'add' && value === undefined) option.makeOptionMandatory();
    if (name === 'add' && value !== undefined) option.default(value, String(value) || 'none');
    command.addOption(option);
  }
  if (name === 'update') command.option('--no-volatile-parameter', 'every parameter counts again');
};

/** Reads the given settings: all of them for `app add`. */
export const toSettings = (options: Record<string, unknown>): Partial<z.input<typeof applicationSettings>> =>
  Object.fromEntries(
    Object.entries(SETTINGS)
      .map(([setting, [flags]]) => [setting, options[new Option(flags).attributeName()]])
      .filter(([, value]) => value !== undefined)
      // A negated option.
      .map(([setting, value]) => [setting, value === false ? [] : value]),
  );

const WEBHOOK_SETTINGS = [
  'query_game_list_webhook',
  'query_game_detail_webhook',
  'query_cp_kyc_webhook',
  'events_webhook',
] as const;
type WebhookSetting = (typeof WEBHOOK_SETTINGS)[number];

/**
 * Warns about webhooks that workers with this machine's settings refuse to call. Only a worker decides, because it checks
 * the address at each call, with its own settings.
 */
export const checkWebhooks = async (
  { config, out }: CommandContext,
  settings: Partial<Record<WebhookSetting, string | null | undefined>>,
): Promise<void> => {
  const { createEgressPolicy } = await import('#src/egress/egress.ts');
  const egress = createEgressPolicy(config.webhooks);
  for (const column of WEBHOOK_SETTINGS) {
    const text = settings[column];
    if (!URL.canParse(text ?? '')) continue;
    const option = `--${column.replaceAll('_', '-')}`;
    for (const warning of await egress.explain(text ?? '')) out.note(`warning: ${option}: ${warning}`);
  }
};

/**
 * Warns about webhooks of a file that workers with this machine's settings refuse as they are written. Names are not
 * resolved, because a file may have 10,000 applications.
 */
export const checkWrittenWebhooks = async (
  { config, out }: CommandContext,
  given: readonly { application_id?: string }[],
): Promise<void> => {
  const { createEgressPolicy } = await import('#src/egress/egress.ts');
  const egress = createEgressPolicy(config.webhooks);
  for (const settings of given) {
    for (const [field, text] of Object.entries(settings)) {
      if (!field.endsWith('_webhook') || !URL.canParse(text)) continue;
      const verdict = egress.checkUrl(text);
      if (!verdict.ok)
        out.note(`warning: ${settings.application_id}: ${field}: this address is refused: ${verdict.reason}`);
    }
  }
};
