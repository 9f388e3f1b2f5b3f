import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type ApplicationRow,
  type ApplicationSettings,
  insertApplication,
  listApplications,
  removeApplication,
  setApplicationStatus,
  updateApplication,
} from '#db/queries/applications.ts';
import { registerAppCheck } from '#src/cli/app-check.ts';
import {
  checkWebhooks,
  DEFAULTS,
  readSettings,
  type SettingOptions,
  withSettings,
} from '#src/cli/app-settings.ts';
import { requireApplication, withDatabase } from '#src/cli/connect.ts';
import { act, type CommandContext, defineCommand } from '#src/cli/frame.ts';
import { readAccessToken } from '#src/cli/read-access-token.ts';
import { applicationId, formatDuration, formatMoment } from '#src/cli/values.ts';
import { UsageError } from '#src/errors.ts';

const sealToken = async (
  { config, out }: CommandContext,
  application_id: string,
  options: SettingOptions,
) => {
  const token = await readAccessToken(options);
  if (token === undefined) return undefined;
  const { openKeyRing } = await import('#src/sealing/key-ring.ts');
  const { sealAccessToken } = await import('#src/sealing/access-token.ts');
  const keys = await openKeyRing(config);
  const sealed = await sealAccessToken(keys, application_id, token);
  // A fleet's database without ENCRYPTION_KEYS: what is left is this machine's own key, which no other has.
  if (keys.records.length === 0) {
    out.note(
      `warning: ENCRYPTION_KEYS is not set here: the access token is sealed under the key in ${join(config.home, 'keys')} alone, and only processes with this CATALOGUE_HOME can call ${application_id}. Set ENCRYPTION_KEYS as the workers have it, then give the token again (npx catalogue app update ${application_id} --access-token-file …) or run npx catalogue kyc reseal on this machine.`,
    );
  }
  return sealed;
};

/** An application as the command line shows it: never its token. */
const shown = (row: ApplicationRow) => ({
  application_id: row.application_id,
  name: row.name,
  status: row.status,
  reason: row.pause_reason,
  failed_runs: row.failed_runs,
  failing_since: row.failing_since,
  next_attempt_at: row.next_attempt_at,
  query_game_list_webhook: row.query_game_list_webhook,
  query_game_detail_webhook: row.query_game_detail_webhook,
  query_cp_kyc_webhook: row.query_cp_kyc_webhook,
  every: formatDuration(row.every_ms),
  kyc_every: formatDuration(row.kyc_every_ms),
  detail_max_age: formatDuration(row.detail_max_age_ms),
  concurrency: row.concurrency,
  rate: row.rate,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

/** Why an application that is in trouble is not called now, in a few words. */
const reasonOf = (row: ApplicationRow): string => {
  if (row.pause_reason !== null) return row.pause_reason;
  if (row.failing_since === null) return '';
  const next = row.next_attempt_at === null ? '' : `, next attempt ${formatMoment(row.next_attempt_at)}`;
  return `failing since ${formatMoment(row.failing_since)} (runs: ${row.failed_runs})${next}`;
};

/** `catalogue app …` */
export const register = (program: Command): void => {
  const app = program
    .command('app')
    .description('Register applications, look at them, pause and resume them.');

  const add = defineCommand(app, 'add', {
    summary: 'register an application',
    details: 'Its first run comes with its schedule; sync starts one at once.',
    examples: [
      'app add acme --name "Acme Games" --query-game-list-webhook https://acme.example/list \\\n      --query-game-detail-webhook https://acme.example/detail --query-cp-kyc-webhook https://acme.example/kyc \\\n      --access-token-file acme.token',
    ],
  }).argument('<application_id>', 'your short name for it: a-z, 0-9 and "-"', applicationId);
  act<[string], SettingOptions>(withSettings(add, true), async (context, options, application_id) => {
    const settings = { ...DEFAULTS, ...readSettings(options) } as ApplicationSettings;
    const token = await sealToken(context, application_id, options);
    if (token === undefined)
      throw new UsageError('Give the token we send with --access-token-file or --access-token-env.');
    await checkWebhooks(context, settings);
    await withDatabase(context, async (sql) => {
      if (!(await insertApplication(sql, application_id, settings, token))) {
        throw new UsageError(
          `"${application_id}" is registered already: change it with app update, or choose another id.`,
        );
      }
      context.out.document(shown(await requireApplication(sql, application_id)));
      context.out.line(
        `Registered ${application_id}. Pull its games now: npx catalogue sync ${application_id} --wait`,
      );
    });
    return undefined;
  });

  const update = defineCommand(app, 'update', {
    summary: 'change what is given',
    examples: ['app update acme --every 1h --rate 20', 'app update acme --access-token-file new.token'],
  }).argument('<application_id>', 'the application', applicationId);
  act<[string], SettingOptions>(withSettings(update, false), async (context, options, application_id) => {
    const settings = readSettings(options);
    const token = await sealToken(context, application_id, options);
    if (Object.keys(settings).length === 0 && token === undefined) {
      throw new UsageError('Say what to change: npx catalogue app update --help lists it.');
    }
    await checkWebhooks(context, settings);
    await withDatabase(context, async (sql) => {
      await requireApplication(sql, application_id);
      await updateApplication(sql, application_id, { ...settings, ...token });
      context.out.document(shown(await requireApplication(sql, application_id)));
      context.out.line(`Changed ${application_id}.`);
    });
    return undefined;
  });

  const list = defineCommand(app, 'list', {
    summary: 'list the applications',
    examples: ['app list', 'app list --json'],
  });
  act(list, async (context) => {
    const rows = await withDatabase(context, listApplications);
    context.out.document({ applications: rows.map(shown) });
    if (rows.length === 0) context.out.line('No application is registered: npx catalogue app add --help');
    else {
      context.out.table(rows, [
        { header: 'application_id', value: (row) => row.application_id },
        { header: 'name', value: (row) => row.name },
        { header: 'status', value: (row) => row.status },
        { header: 'every', value: (row) => formatDuration(row.every_ms) },
        { header: 'kyc every', value: (row) => formatDuration(row.kyc_every_ms) },
        { header: 'registered', value: (row) => formatMoment(row.created_at) },
        { header: 'reason', value: reasonOf },
      ]);
    }
    return undefined;
  });

  const show = defineCommand(app, 'show', {
    summary: 'show one application',
    examples: ['app show acme'],
  }).argument('<application_id>', 'the application', applicationId);
  act<[string], { json?: boolean }>(show, async (context, _options, application_id) => {
    const row = shown(await withDatabase(context, (sql) => requireApplication(sql, application_id)));
    context.out.document(row);
    context.out.table(Object.entries(row), [
      { header: 'field', value: ([field]) => field },
      {
        header: 'value',
        value: ([, value]) => (value instanceof Date ? formatMoment(value) : String(value ?? '')),
      },
    ]);
    return undefined;
  });

  const changes: [name: string, summary: string, status: 'active' | 'paused'][] = [
    ['pause', 'stop its schedules; a run that is open ends', 'paused'],
    ['resume', 'let its schedules run again', 'active'],
  ];
  for (const [name, summary, status] of changes) {
    const command = defineCommand(app, name, { summary, examples: [`app ${name} acme`] }).argument(
      '<application_id>',
      'the application',
      applicationId,
    );
    act<[string], { json?: boolean }>(command, async (context, _options, application_id) => {
      await withDatabase(context, async (sql) => {
        await requireApplication(sql, application_id);
        await setApplicationStatus(sql, application_id, status);
      });
      context.out.document({ application_id, status });
      context.out.line(`${application_id} is ${status}.`);
      return undefined;
    });
  }

  registerAppCheck(app);

  const remove = defineCommand(app, 'remove', {
    summary: 'take an application out of service',
    details:
      'No more calls, its token is forgotten, its games are withdrawn, its API tokens are revoked. Games, revisions and decisions stay readable.',
    examples: ['app remove acme'],
  }).argument('<application_id>', 'the application', applicationId);
  act<[string], { json?: boolean }>(remove, async (context, _options, application_id) => {
    await withDatabase(context, async (sql) => {
      await requireApplication(sql, application_id);
      await removeApplication(sql, application_id);
    });
    context.out.document({ application_id, status: 'removed' });
    context.out.line(`Removed ${application_id}; its games are withdrawn, its API tokens revoked.`);
    return undefined;
  });
};
