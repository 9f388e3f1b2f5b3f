import { join } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { insertApplication, updateApplication } from '#db/queries/applications.ts';
import {
  addOptionalSettings,
  addRequiredSettings,
  checkWebhooks,
  toSettings,
} from '#src/cli/app-settings.ts';
import { toApplicationDocument } from '#src/cli/application-document.ts';
import { defineCommand, withContext } from '#src/cli/command.ts';
import type { CommandContext } from '#src/cli/context.ts';
import { parseApplicationId } from '#src/cli/parsers.ts';
import { type AccessTokenOptions, readAccessToken } from '#src/cli/read-access-token.ts';
import { requireApplication } from '#src/cli/require-application.ts';
import { UsageError } from '#src/errors.ts';

/** @returns undefined when no option gives a token */
const sealGivenToken = async (
  { config, out }: CommandContext,
  application_id: string,
  options: AccessTokenOptions,
) => {
  const token = await readAccessToken(options);
  if (token === undefined) return undefined;
  const { openKeyRing } = await import('#src/sealing/key-ring.ts');
  const { sealAccessToken } = await import('#src/sealing/access-token.ts');
  const keys = await openKeyRing(config);
  // Without ENCRYPTION_KEYS only the key of this installation is left, which the workers of a fleet do not have.
  if (keys.records.length === 0) {
    out.note(
      `warning: ENCRYPTION_KEYS is not set here: the access token is sealed only with the key in ${join(config.home, 'keys')}, and only processes with this CATALOGUE_HOME can call ${application_id}. Set ENCRYPTION_KEYS to the value that the workers have, then give the token again (npx catalogue app update ${application_id} --access-token-file …) or run npx catalogue kyc reseal on this machine.`,
    );
  }
  return sealAccessToken(keys, application_id, token);
};

/** Defines `app add`. */
export const defineAdd = (app: CommandUnknownOpts): void => {
  const add = defineCommand(app, 'add', {
    summary: 'register an application',
    details: 'Its first run starts with its schedule. To start one now, use sync.',
    examples: [
      'app add acme --name "Acme Games" --query-game-list-webhook https://acme.example/list \\\n      --query-game-detail-webhook https://acme.example/detail --query-cp-kyc-webhook https://acme.example/kyc \\\n      --access-token-file acme.token',
    ],
  }).argument('<application_id>', 'a short id that you choose: a-z, 0-9 and "-"', parseApplicationId);
  addRequiredSettings(add).action(
    withContext(async (context, application_id, options) => {
      const settings = toSettings(options);
      const token = await sealGivenToken(context, application_id, options);
      if (token === undefined)
        throw new UsageError('Give its access token with --access-token-file or --access-token-env.');
      await checkWebhooks(context, settings);
      const sql = await context.openDatabase();
      if (!(await insertApplication(sql, application_id, settings, token))) {
        throw new UsageError(
          `"${application_id}" is already registered: change it with app update, or choose another id.`,
        );
      }
      context.out.answer(
        toApplicationDocument(await requireApplication(sql, application_id)),
        `Registered ${application_id}. Pull its games now: npx catalogue sync ${application_id} --wait`,
      );
    }),
  );
};

/** Defines `app update`. */
export const defineUpdate = (app: CommandUnknownOpts): void => {
  const update = defineCommand(app, 'update', {
    summary: 'change settings of an application',
    examples: ['app update acme --every 1h --rate 20', 'app update acme --access-token-file new.token'],
  }).argument('<application_id>', 'the application', parseApplicationId);
  addOptionalSettings(update).action(
    withContext(async (context, application_id, options) => {
      const token = await sealGivenToken(context, application_id, options);
      const changes = { ...toSettings(options), ...token };
      if (Object.keys(changes).length === 0)
        throw new UsageError('Give at least one setting: npx catalogue app update --help lists them.');
      await checkWebhooks(context, changes);
      const sql = await context.openDatabase();
      await requireApplication(sql, application_id);
      await updateApplication(sql, application_id, changes);
      context.out.answer(
        toApplicationDocument(await requireApplication(sql, application_id)),
        `Changed ${application_id}.`,
      );
    }),
  );
};
