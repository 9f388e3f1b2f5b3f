/** Applications: register, change, pause, resume, remove. */
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import {
  type ApplicationSettings,
  insertApplication,
  isRegistered,
  lockActiveApplication,
  lockApplication,
  setApplicationStatus,
  updateApplication,
} from '#db/queries/applications.ts';
import { countUndelivered } from '#db/queries/event-deliveries.ts';
import { deleteEventWebhook, upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { lockOpenRun } from '#db/queries/runs.ts';
import { TransactionRestart } from '#db/transact.ts';
import {
  accessToken,
  applicationId,
  applicationSettings,
  toColumns,
  webhookUrl,
} from '#src/contract/application-settings.ts';
import { count } from '#src/contract/documents.ts';
import { APPLICATION_STATUSES, SETTING_DEFAULTS } from '#src/contract/words.ts';
import { NotFoundError, StateError } from '#src/errors.ts';
import { moveRun } from '#src/operations/open-run.ts';
import { type AuditNote, defineOperation } from '#src/operations/operation.ts';
import { isOutdated, prepareToken } from '#src/operations/prepare-token.ts';
import { sealAccessToken } from '#src/sealing/access-token.ts';
import { type NewEventSecret, sealNewEventSecret } from '#src/sealing/event-secret.ts';

export const applicationSubject = ({ application_id }: { application_id: string }): string =>
  `application:${application_id}`;

/** An input that names one application. */
export const oneApplication = z.object({ application_id: applicationId });

/** Locks an application against its removal. @throws NotFoundError if there is none */
export const requireActiveApplication = async (tx: Queryable, application_id: string): Promise<void> => {
  if (!(await lockActiveApplication(tx, application_id)))
    throw new NotFoundError('application', application_id);
};

/** Removes query and fragment of a URL for the audit log, because they may contain secrets. */
const describeUrl = (text: string): string => {
  const url = URL.parse(text);
  return url === null ? '' : `${url.origin}${url.pathname}`;
};

/** Prepares settings for the audit log: without the token, and without secrets in addresses. */
const describeSettings = (settings: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => {
        if (name === 'access_token') return [name, 'changed'];
        return [name, name.endsWith('_webhook') ? describeUrl(String(value)) : value];
      }),
  );

/** The answer of operations that may make a secret. */
export const changed = z.object({
  secret: z.string().optional().describe('Signs its events; shown only now.'),
  undelivered: count
    .optional()
    .describe(
      'Of a new address for events: earlier events that no further attempt sends; event/retry sends them. Counted up to 10,000.',
    ),
});
type Changed = z.infer<typeof changed>;

/** Sets the address of an application's events. */
export const setEventWebhook = async (
  tx: Queryable,
  { address, secret, sealed }: NewEventSecret<{ application_id: string; url: string }>,
): Promise<Changed> => {
  await upsertEventWebhook(tx, { ...address, ...sealed });
  return { secret, undelivered: await countUndelivered(tx, address.application_id) };
};

export const noteEventWebhook = (url: string | null | undefined): AuditNote[] => {
  if (url === undefined) return [];
  if (url === null) return [{ action: 'event_webhook.remove' }];
  return [{ action: 'event_webhook.set', details: { events_webhook: describeUrl(url) } }];
};

const eventsWebhook = { events_webhook: webhookUrl.nullable().optional() };

const switched = z.object({ application_id: z.string(), status: z.enum(APPLICATION_STATUSES) });

/** Explains why an application was not registered. */
const explainTakenId = async (tx: Queryable, application_id: string): Promise<string> =>
  (await isRegistered(tx, application_id))
    ? `"${application_id}" is already registered: change it with app update, or choose another id.`
    : `"${application_id}" was registered before: its games with their decisions and its events would return. For the same owner, add --same-owner; a new owner gets another id.`;

export const addApplication = defineOperation({
  name: 'application.add',
  title: 'Register an application',
  answer: changed,
  right: 'manage_applications',
  input: applicationSettings.extend({
    application_id: applicationId,
    access_token: accessToken,
    every: applicationSettings.shape.every.prefault(SETTING_DEFAULTS.every),
    kyc_every: applicationSettings.shape.kyc_every.prefault(SETTING_DEFAULTS.kyc_every),
    detail_max_age: applicationSettings.shape.detail_max_age.prefault(SETTING_DEFAULTS.detail_max_age),
    concurrency: applicationSettings.shape.concurrency.default(SETTING_DEFAULTS.concurrency),
    rate: applicationSettings.shape.rate.default(SETTING_DEFAULTS.rate),
    volatile_parameters: applicationSettings.shape.volatile_parameters.prefault([]),
    review_priority: applicationSettings.shape.review_priority.default(SETTING_DEFAULTS.review_priority),
    ...eventsWebhook,
    /** The former owner of a removed application's id gets it again, and its games, decisions and events return. */
    same_owner: z.boolean().default(false),
    /** Nothing is pulled by its schedules until it is resumed. */
    paused: z.boolean().default(false),
  }),
  subject: applicationSubject,
  prepare: async ({ application_id, access_token, events_webhook: url, ...settings }, { keys }) => ({
    token: await sealAccessToken(await keys(), { application_id, ...settings }, access_token),
    webhook: url ? await sealNewEventSecret(await keys(), { application_id, url }) : undefined,
  }),
  run: async (
    tx,
    { application_id, access_token: _token, events_webhook: _url, same_owner, paused, ...settings },
    { prepared: { token, webhook } },
  ): Promise<Changed> => {
    // Complete, because each setting is required or has a default.
    const columns = toColumns(settings) as ApplicationSettings;
    const status = paused ? 'paused' : 'active';
    if (!(await insertApplication(tx, application_id, { ...columns, status }, token, same_owner)))
      throw new StateError(await explainTakenId(tx, application_id));
    return webhook === undefined ? {} : setEventWebhook(tx, webhook);
  },
  log: (
    _,
    { application_id: _id, access_token: _token, events_webhook, same_owner, paused, ...settings },
  ) => [
    {
      details: {
        ...describeSettings(toColumns(settings)),
        ...(same_owner && { same_owner }),
        ...(paused && { paused }),
      },
    },
    ...noteEventWebhook(events_webhook ?? undefined),
  ],
});

/** The webhooks that a run calls. */
const RUN_WEBHOOKS = ['query_game_list_webhook', 'query_game_detail_webhook'] as const;

export const changeApplication = defineOperation({
  name: 'application.update',
  title: 'Change an application',
  answer: changed.extend({
    former: z
      .record(z.string(), z.unknown())
      .describe(
        'What the settings that differ were before, by their columns; of addresses without their query.',
      ),
  }),
  right: 'manage_applications',
  input: applicationSettings
    .partial()
    .extend({ application_id: applicationId, access_token: accessToken.optional(), ...eventsWebhook })
    .refine(
      (input) => Object.values(input).filter((value) => value !== undefined).length > 1,
      'Give at least one setting',
    ),
  subject: applicationSubject,
  prepare: async ({ application_id, access_token, events_webhook: url, ...settings }, outside) => ({
    ...(await prepareToken(application_id, toColumns(settings), access_token, outside)),
    webhook: url ? await sealNewEventSecret(await outside.keys(), { application_id, url }) : undefined,
  }),
  run: async (
    tx,
    { application_id, access_token, events_webhook, ...settings },
    { prepared: { seen, token, webhook } },
  ): Promise<Changed & { former: Record<string, unknown> }> => {
    const changes = toColumns(settings);
    const isAddressed = RUN_WEBHOOKS.some((column) => changes[column] !== undefined);
    // The run before its application, as every transaction locks them.
    const open = isAddressed ? await lockOpenRun(tx, application_id) : undefined;
    const before = await lockApplication(tx, application_id);
    if (before === undefined) throw new NotFoundError('application', application_id);
    if (isOutdated(seen, before)) throw new TransactionRestart();
    const after = { ...before, ...changes };
    if (RUN_WEBHOOKS.some((column) => after[column] !== before[column])) await moveRun(tx, before, open);
    if (Object.keys({ ...changes, ...token }).length > 0)
      await updateApplication(tx, application_id, { ...changes, ...token });
    if (events_webhook === null) await deleteEventWebhook(tx, application_id);
    const secret = webhook === undefined ? {} : await setEventWebhook(tx, webhook);
    const differing = Object.keys(changes).filter(
      (column) =>
        JSON.stringify(before[column as keyof object]) !== JSON.stringify(changes[column as keyof object]),
    );
    const former = differing.map((column) => [column, before[column as keyof object]]);
    return { ...secret, former: describeSettings(Object.fromEntries(former)) };
  },
  log: ({ former }, { application_id: _id, events_webhook, ...settings }) => {
    const details = {
      ...describeSettings(toColumns(settings)),
      ...(Object.keys(former).length > 0 && { former }),
    };
    const own = Object.keys(details).length > 0 ? [{ details }] : [];
    return [...own, ...noteEventWebhook(events_webhook)];
  },
});

const switchTo = (status: 'active' | 'paused') =>
  ({
    answer: switched,
    right: 'manage_applications',
    input: oneApplication,
    subject: applicationSubject,
    run: async (tx: Queryable, { application_id }: { application_id: string }) => {
      if (await setApplicationStatus(tx, application_id, status)) return { application_id, status };
      throw new NotFoundError('application', application_id);
    },
  }) as const;

export const pauseApplication = defineOperation({
  name: 'application.pause',
  title: 'Stop the schedules of an application',
  ...switchTo('paused'),
});

export const resumeApplication = defineOperation({
  name: 'application.resume',
  title: 'Start the schedules of an application again',
  ...switchTo('active'),
});
