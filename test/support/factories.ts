import { createHash, randomUUIDv7 } from 'node:crypto';
import type { Database } from '#db/client.ts';
import {
  type ApplicationSettings,
  findApplication,
  insertApplication,
  updateApplication,
} from '#db/queries/applications.ts';
import type { Actor } from '#db/queries/audit.ts';
import { type FetchedGame, upsertGames } from '#db/queries/games.ts';
import { insertOperator } from '#db/queries/operators.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { insertToken } from '#db/queries/tokens.ts';
import {
  type ApplicationGameDetail,
  type ApplicationGameSummary,
  EXAMPLE_DETAIL,
} from '#src/contract/application.ts';
import type { Role } from '#src/contract/roles.ts';
import { createApiToken } from '#src/identity/secrets.ts';
import type { FetchedDetail } from '#src/ingest/fetch-details.ts';
import { openRun } from '#src/ingest/steps.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { hashApiToken } from '#src/rules/api-token.ts';
import {
  addressesEndAt,
  CONTENT,
  CONTENT_COLUMNS,
  contentHash,
  type GameContent,
  listHash,
  toGameContent,
} from '#src/rules/mapping.ts';
import { sealAccessToken } from '#src/sealing/access-token.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import { localKey } from '#src/sealing/key-provider.ts';

/** A token that stands nowhere else: found anywhere in clear, it leaked. */
export const ACCESS_TOKEN = 'planted-access-token-3f9b1e70c2';

const key = localKey('test', createHash('sha256').update('the key of the tests').digest());
export const testKeys: KeyRing = { records: [key], tokens: [key] };

/** An operator. */
export const KIM: Actor = { actor: 'kim', actor_kind: 'operator' };

const DAY_MS = 24 * 60 * 60_000;

/** Ticks so rarely that no test sees one, and as fast as a test wants. */
const SETTINGS: ApplicationSettings = {
  name: 'Acme Games',
  query_game_list_webhook: 'http://127.0.0.1:9/list',
  query_game_detail_webhook: 'http://127.0.0.1:9/detail',
  query_cp_kyc_webhook: 'http://127.0.0.1:9/kyc',
  every_ms: 30 * DAY_MS,
  kyc_every_ms: 30 * DAY_MS,
  detail_max_age_ms: DAY_MS,
  concurrency: 16,
  rate: 100_000,
  volatile_parameters: [],
  review_priority: 'normal',
};

/** Registers an application, with its access token under these keys. */
export const addApplication = async (
  sql: Database,
  application_id = 'acme',
  settings: Partial<ApplicationSettings> = {},
  keys = testKeys,
) => {
  const all = { ...SETTINGS, ...settings };
  const sealed = await sealAccessToken(keys, { application_id, ...all }, ACCESS_TOKEN);
  await insertApplication(sql, application_id, all, sealed, true);
  const row = await findApplication(sql, application_id);
  if (row === undefined) throw new Error(`${application_id} was not registered`);
  return row;
};

/** The three webhooks of the sample application at this address, or behind a gate at it. */
export const webhooksAt = (url: string) => ({
  query_game_list_webhook: `${url}/webhooks/query_game_list`,
  query_game_detail_webhook: `${url}/webhooks/query_game_detail`,
  query_cp_kyc_webhook: `${url}/webhooks/query_cp_kyc`,
});

/** Move webhooks of an application as `app update` does with its token. @returns false when there is no such application */
export const moveWebhooks = async (
  sql: Database,
  application_id: string,
  webhooks: Partial<ApplicationSettings>,
): Promise<boolean> => {
  const before = await findApplication(sql, application_id);
  if (before === undefined) return false;
  const sealed = await sealAccessToken(testKeys, { ...before, ...webhooks }, ACCESS_TOKEN);
  await updateApplication(sql, application_id, { ...webhooks, ...sealed });
  return true;
};

/** A detail as an application answers it (section 2.5). */
export const aDetail = (changes: Partial<ApplicationGameDetail> = {}): ApplicationGameDetail => ({
  ...EXAMPLE_DETAIL,
  ...changes,
});

/** A content without anything in it. */
export const emptyContent = () =>
  Object.fromEntries(
    CONTENT_COLUMNS.map((name) => [name, CONTENT[name].type === 'text' ? '' : []]),
  ) as unknown as GameContent;

/** The same game as the list shows it (section 2.4). */
export const summaryOf = (detail: ApplicationGameDetail): ApplicationGameSummary => ({
  game_id: detail.game_id,
  game_name: detail.game_name,
  game_icon: detail.game_icon[0] ?? '',
});

/** Known signers only. */
export const DEFAULT_RULE = identityRule([]);

/** A game of a detail call, ready to be written. @param columns replace what follows from the detail */
export const fetchedGame = (
  changes: Partial<ApplicationGameDetail> = {},
  fetched_at = new Date('2026-03-01T12:00:00.000Z'),
  columns: Partial<FetchedGame> = {},
  rule = DEFAULT_RULE,
): FetchedGame => {
  const detail = aDetail(changes);
  const content: GameContent = toGameContent(detail);
  return {
    ...content,
    game_id: randomUUIDv7(),
    application_game_id: detail.game_id,
    content_hash: contentHash(content, rule),
    addresses_end_at: addressesEndAt(content),
    list_hash: listHash(summaryOf(detail), rule),
    fetched_at,
    ...columns,
  };
};

const BARE = { game_icon: [], game_info: '', game_store_video: '', game_store_pic: [] };

/** Adds pending games that have a name and nothing else. @returns their game_ids, ascending */
export const addGames = async (sql: Database, application_id: string, count: number): Promise<string[]> => {
  const games = Array.from({ length: count }, () =>
    fetchedGame({ game_id: randomUUIDv7(), ...BARE }, new Date()),
  );
  await upsertGames(sql, application_id, games);
  return games.map(({ game_id }) => game_id).sort();
};

/** Creates a token of the API: of an application, or with null of an operator. */
export const addToken = async (
  sql: Database,
  application_id: string | null,
  expires_at: Date | null = null,
  { login, roles }: { login: string; roles: Role[] } = { login: 'reader', roles: ['viewer'] },
): Promise<{ token: string; token_id: string }> => {
  const token = createApiToken();
  const token_id = randomUUIDv7();
  const token_hash = hashApiToken(token);
  const row = { token_id, token_hash, application_id, name: 'test', expires_at };
  if (application_id === null) await insertOperator(sql, { login, name: login, roles });
  if (!(await insertToken(sql, application_id === null ? { ...row, login, roles } : row)))
    throw new Error('the token has no owner');
  return { token, token_id };
};

/** The same with its size, as a result of a call has it. */
export const fetchedDetail = (...args: Parameters<typeof fetchedGame>): FetchedDetail => ({
  ...fetchedGame(...args),
  bytes: 100,
});

/** A run of this application that is open now. */
export const anOpenRun = async (
  sql: Database,
  application_id = 'acme',
  options: { full?: boolean; accept_withdrawals?: boolean } = {},
): Promise<RunRow> => {
  const { full = false, accept_withdrawals = false } = options;
  const run_id = randomUUIDv7();
  const run = { run_id, application_id, trigger: 'manual', full, accept_withdrawals } as const;
  return (await openRun(sql, run)).run;
};
