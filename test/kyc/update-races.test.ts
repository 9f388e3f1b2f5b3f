import { beforeEach, expect, it } from 'vitest';
import { type ApplicationRow, findApplication } from '#db/queries/applications.ts';
import { openAccessToken, sealAccessToken } from '#src/sealing/access-token.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { runCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN, addApplication } from '#test/support/factories.ts';
import { keysText, ringOf } from '#test/support/kyc.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const KEYS = ringOf(['k1']);
const KYC = 'http://127.0.0.1:10/kyc';

const found = async () => (await findApplication(database.sql, 'acme')) as ApplicationRow;

/** `acme` with webhooks at two origins, and the token for both. */
beforeEach(async () => {
  const { sql } = database;
  await sql`delete from applications`;
  const row = await addApplication(sql, 'acme', { query_cp_kyc_webhook: KYC });
  const { access_token, access_token_keys } = await sealAccessToken(KEYS, row, ACCESS_TOKEN);
  await sql`update applications set access_token = ${access_token}, access_token_keys = ${sql.json(access_token_keys)}`;
});

/** Runs these updates of `acme` so that each has read the application before any has written. */
const updateAtOnce = async (...updates: string[][]) => {
  const { sql, databaseUrl } = database;
  const env = {
    ...asOperator(databaseUrl),
    ENCRYPTION_KEYS: keysText('k1'),
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    NEW_TOKEN: 'another-token',
  };
  const running: ReturnType<typeof runCli>[] = [];
  await sql.begin(async (tx) => {
    await tx`select from applications for update`;
    for (const args of updates) {
      running.push(runCli(['app', 'update', 'acme', ...args], env));
      await untilBlocked(sql, running.length);
    }
  });
  return Promise.all(running);
};

const DROP_ORIGIN = ['--query-cp-kyc-webhook', 'http://127.0.0.1:9/kyc'];
const USE_ORIGIN = ['--query-game-list-webhook', 'http://127.0.0.1:10/list'];
const NEW_TOKEN = ['--access-token-env', 'NEW_TOKEN'];

it.each([
  ['first', [DROP_ORIGIN, USE_ORIGIN]],
  ['last', [USE_ORIGIN, DROP_ORIGIN]],
])(
  'an update that drops an origin %s and one that uses it leave a token that opens',
  async (_when, updates) => {
    const results = await updateAtOnce(...updates);
    const failed = results.filter(({ exit }) => exit !== 0);
    // Once the origin is dropped, using it takes the token again.
    for (const { exit, stderr } of failed) {
      expect(exit).toBe(2);
      expect(stderr).toContain('was not given for http://127.0.0.1:10');
    }
    expect(failed.length).toBeLessThanOrEqual(1);
    expect(await openAccessToken(KEYS, await found())).toBe(ACCESS_TOKEN);
  },
);

it.each([
  ['first', [NEW_TOKEN, DROP_ORIGIN]],
  ['last', [DROP_ORIGIN, NEW_TOKEN]],
])(
  'a new token that is given %s is not lost to an update that seals the former one again',
  async (_when, updates) => {
    const results = await updateAtOnce(...updates);
    expect(results.map(({ exit }) => exit)).toEqual([0, 0]);
    expect(await openAccessToken(KEYS, await found())).toBe('another-token');
    expect(await found()).toMatchObject({ query_cp_kyc_webhook: 'http://127.0.0.1:9/kyc' });
  },
);

it('two updates of different settings are both kept', async () => {
  const results = await updateAtOnce(['--rate', '7'], ['--name', 'Renamed']);
  expect(results.map(({ exit }) => exit)).toEqual([0, 0]);
  expect(await found()).toMatchObject({ rate: 7, name: 'Renamed' });
});
