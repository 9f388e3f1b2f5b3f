/** The access token of an application that is changed: sealed before the transaction, for the webhooks as they are then. */
import { isDeepStrictEqual } from 'node:util';
import {
  type ApplicationRow,
  type ApplicationSettings,
  findApplication,
  type SealedAccessToken,
} from '#db/queries/applications.ts';
import { UsageError } from '#src/errors.ts';
import type { Outside } from '#src/operations/operation.ts';
import {
  type AddressedApplication,
  openAccessToken,
  originsOf,
  sealAccessToken,
} from '#src/sealing/access-token.ts';

const GIVE_TOKEN = 'give the token for the new address with --access-token-file or --access-token-env.';

/**
 * The token that an application keeps when its webhooks change, sealed again if it is sent to fewer origins.
 * @throws UsageError when there is a new origin, because a token is sent only to the origins that it was given for
 */
const resealKeptToken = async (before: ApplicationRow, after: AddressedApplication, { keys }: Outside) => {
  const [had, has] = [originsOf(before), originsOf(after)];
  const added = has.filter((origin) => !had.includes(origin));
  if (added.length > 0)
    throw new UsageError(
      `The access token of ${after.application_id} was not given for ${added.join(', ')}: ${GIVE_TOKEN}`,
    );
  if (has.length === had.length) return {};
  const ring = await keys();
  return sealAccessToken(ring, after, await openAccessToken(ring, before));
};

/** Seals the token of an application as these changes require it. @returns `seen`: the application as it is now */
export const prepareToken = async (
  application_id: string,
  changes: Partial<ApplicationSettings>,
  access_token: string | undefined,
  outside: Outside,
): Promise<{ seen?: ApplicationRow | undefined; token: Partial<SealedAccessToken> }> => {
  const seen = await findApplication(outside.sql, application_id);
  if (seen === undefined) return { seen, token: {} };
  const after = { ...seen, ...changes };
  const token =
    access_token === undefined
      ? await resealKeptToken(seen, after, outside)
      : await sealAccessToken(await outside.keys(), after, access_token);
  return { seen, token };
};

/** Did another update change what the token was sealed for? */
export const isOutdated = (seen: ApplicationRow | undefined, now: ApplicationRow): boolean => {
  const sealedFor = (row: ApplicationRow) => [
    row.query_game_list_webhook,
    row.query_game_detail_webhook,
    row.query_cp_kyc_webhook,
    row.access_token,
  ];
  return seen === undefined || !isDeepStrictEqual(sealedFor(seen), sealedFor(now));
};
