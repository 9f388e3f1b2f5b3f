import { createHash, randomBytes, randomUUIDv7 } from 'node:crypto';
import type { Database } from '#db/client.ts';
import { insertAppeal } from '#db/queries/appeals.ts';
import { finishCheck, insertCheck } from '#db/queries/application-checks.ts';
import { approveRequest, insertApproval } from '#db/queries/approvals.ts';
import { recordAudit } from '#db/queries/audit.ts';
import { takeDetailTurn } from '#db/queries/detail-turns.ts';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { leaseGame } from '#db/queries/game-leases.ts';
import { recordViewer } from '#db/queries/game-viewers.ts';
import { type FetchedGame, upsertGames } from '#db/queries/games.ts';
import { holdGames, insertHold } from '#db/queries/holds.ts';
import { insertWaitingGames } from '#db/queries/imports.ts';
import { findKycRecord, insertKycAccess } from '#db/queries/kyc.ts';
import { insertOperator } from '#db/queries/operators.ts';
import { claimPicture, recordResult, saveContent, saveIconHashes } from '#db/queries/picture-fetches.ts';
import { insertPortalSession } from '#db/queries/portal-sessions.ts';
import { insertRefreshes, postponeRefreshes } from '#db/queries/refreshes.ts';
import { closeRun } from '#db/queries/runs.ts';
import { countAttempts, insertLink, insertOidcFlow, insertSession } from '#db/queries/sign-in.ts';
import { insertSubscription } from '#db/queries/subscriptions.ts';
import { insertMessage } from '#db/queries/threads.ts';
import { insertToken } from '#db/queries/tokens.ts';
import { insertVerdict } from '#db/queries/verdicts.ts';
import { recordHeartbeat } from '#db/queries/workers.ts';
import type { KycRecord } from '#src/contract/application.ts';
import { placeEvents } from '#src/events/place-events.ts';
import { createApiToken } from '#src/identity/secrets.ts';
import { openFingerprintKey } from '#src/kyc/fingerprints.ts';
import { storeKycRecord } from '#src/kyc/store-record.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { comparePins } from '#src/pictures/compare-pins.ts';
import { identifyPins } from '#src/pictures/identify-pins.ts';
import { hashApiToken } from '#src/rules/api-token.ts';
import { sealNewEventSecret } from '#src/sealing/event-secret.ts';
import { addApplication, anOpenRun, fetchedGame, testKeys } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { recordNamed } from '#test/support/record-page.ts';

/** The application that has all the rows. */
export const APPLICATION = 'acme';

/** Its current KYC record. */
export const RECORD: KycRecord = {
  cp_id: 'cp-1',
  cp_name: 'Lantern Studio',
  cp_short_name: 'Lantern',
  legal_entity: 'Ada Lantern',
  id_type: 'passport',
  id_number: 'X1',
  tax_id: 'DE 123-456',
  registered_address: '1 Harbour Road',
  corporate_account: 'DE00 0000',
  opening_bank: 'Harbour Bank',
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const game = (game_id: string, game_name: string, fetched_at?: Date): FetchedGame =>
  fetchedGame({ game_id, game_name, game_icon: [`https://cdn.example/${game_id}.png`] }, fetched_at);

const addPeople = async (sql: Database): Promise<void> => {
  await insertOperator(sql, { login: 'kim', name: 'Kim', roles: ['reviewer', 'kyc_officer'] });
  await insertOperator(sql, { login: 'lee', name: 'Lee', roles: ['admin', 'kyc_officer'] });
  await insertSession(sql, randomBytes(32), { login: 'kim', site: 'console', confirmed: true });
  await insertLink(sql, {
    link_hash: randomBytes(32),
    login: 'lee',
    sets_password: true,
    lifetime_ms: 60_000,
  });
  await insertOidcFlow(
    sql,
    randomBytes(32),
    'console',
    { state: 's', nonce: 'n', code_verifier: 'v', next: '/' },
    60_000,
  );
  await countAttempts(sql, ['login:kim'], 60_000);
  const request = {
    approval_id: randomUUIDv7(),
    kind: 'erase',
    subject: `application:${APPLICATION}`,
    version: '1',
    requested: {},
    reason: 'a request',
    requested_by: 'kim',
  } as const;
  await insertApproval(sql, request);
  await approveRequest(sql, { approval_id: request.approval_id, by: 'lee', version: '1' }, ['kyc_officer']);
};

const addToken = async (sql: Database): Promise<void> => {
  const token_id = randomUUIDv7();
  const token_hash = hashApiToken(createApiToken());
  await insertToken(sql, {
    token_id,
    token_hash,
    application_id: APPLICATION,
    name: 'test',
    expires_at: null,
  });
  await insertPortalSession(sql, randomBytes(32), token_id);
};

/** A run of one page with a failure, one that waits for a decision, and the sums of a day. */
const addRuns = async (sql: Database, vanishing_game_id: string): Promise<void> => {
  const run = await anOpenRun(sql, APPLICATION);
  const page = {
    page_num: 1,
    row_count: 1,
    total: 1,
    unnamed: 0,
    listed_bytes: 9,
    listing_end: 'complete',
  } as const;
  const named = [{ application_game_id: 'new', list_hash: 'hash' }];
  await recordNamed(sql, run, { ...page, named }, { full: false, startedAt: new Date(), everyMs: 60_000 });
  const failure = { application_game_id: 'new', kind: 'timeout', reasons: [] };
  await recordFailures(sql, APPLICATION, 'query_game_detail', [failure]);
  await closeRun(sql, run, { outcome: 'suspect', reason: 'would withdraw 1 game' });
  await sql`insert into vanishing_games values (${run.run_id}, ${vanishing_game_id})`;
  await sql`
    insert into run_days (application_id, day, outcome, runs, listed, inserted, updated, unchanged, invalid, failed,
      missing, withdrawn)
    values (${APPLICATION}, now(), 'succeeded', 1, 1, 1, 0, 0, 0, 0, 0, 0)`;
  await anOpenRun(sql, APPLICATION);
};

const addKyc = async (sql: Database): Promise<void> => {
  const keys = { keys: testKeys, fingerprintKey: await openFingerprintKey(sql, testKeys) };
  const pull = (seconds: number) => ({ application_id: APPLICATION, pulled_at: new Date(seconds * 1_000) });
  await storeKycRecord(sql, keys, pull(1), { ...RECORD, cp_name: 'Lantern' });
  await storeKycRecord(sql, keys, pull(2), RECORD);
  const access = {
    application_id: APPLICATION,
    record_id: null,
    action: 'reveal',
    accessed_by: 'kim',
  } as const;
  await insertKycAccess(sql, { ...access, reason: 'a request' });
  const record = await findKycRecord(sql, APPLICATION);
  const verdict = {
    verdict: 'verified',
    reason: 'a register extract',
    text: null,
    decided_by: 'kim',
  } as const;
  await insertVerdict(sql, {
    ...verdict,
    application_id: APPLICATION,
    record_id: record?.record_id ?? '',
    expires_ms: 86_400_000,
  });
};

/** Requests a picture whose server sends these bytes. */
const fetchPicture = async (sql: Database, url: string, content: string): Promise<string> => {
  await sql`update pictures set fresh_until = now() where url = ${url}`;
  const claimed = await claimPicture(sql, { application_id: APPLICATION, url }, false);
  if (claimed === undefined) throw new Error(`another process requests ${url}`);
  const shape = { format: 'png', width: 64, height: 64, frames: 1, dhash: 1n };
  const thumbnails = [{ width: 64, webp: Buffer.from('webp') }];
  await saveContent(sql, { sha256: sha256(content), outcome: 'shown', bytes: 9, ...shape, thumbnails });
  const { picture_id } = claimed;
  await recordResult(sql, {
    picture_id,
    sha256: sha256(content),
    outcome: 'shown',
    http_status: 200,
    freshMs: 60_000,
  });
  return picture_id;
};

/** Games in every state: live, with a picture that changed, rejected, changed, withdrawn. Decisions are events to send. */
const addGames = async (sql: Database): Promise<{ withdrawn: string }> => {
  const address = { application_id: APPLICATION, url: 'http://127.0.0.1:9/events' };
  const { sealed } = await sealNewEventSecret(testKeys, address);
  await upsertEventWebhook(sql, { ...address, ...sealed });
  const games = [
    game('live', 'Harbour'),
    game('drifted', 'Fog'),
    game('changed', '纸船'),
    game('rejected', 'Rain'),
  ];
  const withdrawn = game('withdrawn', 'Paper Boat');
  await upsertGames(sql, APPLICATION, [...games, withdrawn]);
  const [, drifted, , rejected] = games as [FetchedGame, FetchedGame, FetchedGame, FetchedGame];
  const [icon = ''] = drifted.game_icon;
  await fetchPicture(sql, icon, 'first bytes');
  await saveIconHashes(sql, [{ ...drifted, application_id: APPLICATION }]);
  for (const { game_id } of games.slice(0, 3))
    await decideGame(sql, { game_id, audit_status: 'passed', note: 'fine' });
  const { game_id } = rejected;
  await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'other', text: 'Too wet.' });
  await insertMessage(sql, { game_id, kind: 'message', written_by: 'kim', text: 'How wet is it?' });
  await insertAppeal(sql, { game_id, text: 'It is dry.' });
  await upsertGames(sql, APPLICATION, [game('changed', '纸船 2', new Date())]);
  await comparePins(sql, await fetchPicture(sql, icon, 'other bytes'), createReopenGames(sql));
  await identifyPins(sql, new AbortController().signal);
  await sql`update games set withdrawn_at = now() where game_id = ${withdrawn.game_id}`;
  await placeEvents(sql);
  await placeEvents(sql, 'stream_events');
  const subscriber = { subscription_id: randomUUIDv7(), url: 'http://127.0.0.1:9/stream' };
  const { sealed: sealedStream } = await sealNewEventSecret(testKeys, subscriber);
  await insertSubscription(sql, { ...subscriber, types: ['game.received'], ...sealedStream });
  const waiting = { application_game_id: 'imported', game_id: randomUUIDv7(), game_package_url: '' };
  const decision = { audit_time: new Date('2026-01-01'), decided_by: 'kim', reason: 'rights', text: 'No.' };
  await insertWaitingGames(sql, APPLICATION, [{ ...waiting, ...decision, audit_status: 'rejected' }]);
  await recordViewer(sql, game_id, 'kim', 1);
  await leaseGame(sql, game_id, 'lee');
  // Rows in the counters, and changes that are not folded into them.
  await sql`select fold_game_counts()`;
  await upsertGames(sql, APPLICATION, [game('waiting', '(no name)')]);
  return { withdrawn: withdrawn.game_id };
};

/** Writes rows into every table, by the product's own statements where there is one. @param sql a pool of one connection */
export const writeReleasedRows = async (sql: Database): Promise<void> => {
  await addApplication(sql, APPLICATION, { query_cp_kyc_webhook: 'http://127.0.0.1:8/kyc' });
  await addPeople(sql);
  await addToken(sql);
  const { withdrawn } = await addGames(sql);
  await addRuns(sql, withdrawn);
  await addKyc(sql);
  const check = { check_id: randomUUIDv7(), application_id: APPLICATION, requested_by: 'kim' };
  await insertCheck(sql, check);
  await finishCheck(sql, check, { passed: 3, cases: [] });
  await insertRefreshes(sql, APPLICATION, ['live']);
  await postponeRefreshes(sql, APPLICATION, 60_000);
  await insertHold(sql, { application_id: APPLICATION, reason: 'the rights are in doubt', held_by: 'kim' });
  await holdGames(sql, APPLICATION);
  await takeDetailTurn(sql, APPLICATION, 1_000);
  await recordHeartbeat(sql, { worker_id: randomUUIDv7(), host: 'worker-1', pid: 1, queue: 'Postgres' });
  await recordAudit(sql, [
    {
      actor: 'kim',
      actor_kind: 'operator',
      action: 'application.pause',
      subject: `application:${APPLICATION}`,
    },
  ]);
};
