import type { Database } from '#db/client.ts';
import { setEventWebhook } from '#src/actions/event-webhooks.ts';
import { commandLineActor } from '#src/cli/actor.ts';
import type { CommandContext } from '#src/cli/context.ts';
import { CatalogueError } from '#src/errors.ts';

export const EVENTS_WEBHOOK = ['--events-webhook <url>', 'URL that its events are sent to', String] as const;

/**
 * Sets where an application's events are sent.
 * @returns the new secret, to be shown once
 */
export const giveEventWebhook = async (
  { openKeys }: CommandContext,
  sql: Database,
  application_id: string,
  url: string,
): Promise<string> => {
  const { sealNewEventSecret } = await import('#src/sealing/event-secret.ts');
  const address = { application_id, url };
  const { secret, sealed } = await sealNewEventSecret(await openKeys(), address);
  if (await setEventWebhook(sql, commandLineActor(), { ...address, ...sealed })) return secret;
  throw new CatalogueError(`${application_id} was removed meanwhile.`);
};

/** What `app add` and `app update` print besides the application. */
export const secretLines = (secret: string | undefined): string[] =>
  secret === undefined
    ? []
    : [`The secret that signs its events, shown only now: ${secret}`, 'Give it to its developer.'];
