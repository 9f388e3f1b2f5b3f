import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type ApplicationRow, findApplication } from '#db/queries/applications.ts';
import { queryCpKyc } from '#src/ingest/specs.ts';
import { openAccessToken, sealAccessToken } from '#src/sealing/access-token.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN, addApplication, webhooksAt } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { keysText, ringOf } from '#test/support/kyc.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { aServer, envelope } from '#test/support/webhooks.ts';

describe('a person who writes to the database', () => {
  const fleet = useTestFleet(fleetBackend(), 1);

  /** Their server, with the requests that reached it. */
  const anAttacker = async () => {
    const requests: IncomingHttpHeaders[] = [];
    const server = await aServer((request, response) => {
      requests.push(request.headers);
      request.resume().on('end', () => response.end(envelope({ total: 0, list: [] })));
    });
    return { requests, url: server.url };
  };

  it('receives no token at a webhook that they changed, also when the token was used before', async () => {
    const { sql } = fleet;
    await fleet.addApplication('acme', 3);
    expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded' });
    const { requests, url } = await anAttacker();

    await sql`update applications set query_game_list_webhook = ${webhooksAt(url).query_game_list_webhook}`;
    const run = await fleet.sync('acme');
    expect(run).toMatchObject({ outcome: 'failed' });
    expect(run.reason).toContain('app update acme --access-token-file');
    await sql`update applications set query_cp_kyc_webhook = ${webhooksAt(url).query_cp_kyc_webhook}`;
    const pull = await fleet.producer.add(queryCpKyc, { application_id: 'acme' });
    expect((await fleet.jobEnded(queryCpKyc, pull.id)).failedReason).toContain('app update acme');
    expect(requests).toEqual([]);
  });

  it('receives no token with the sealed token of another application of theirs', async () => {
    const { sql } = fleet;
    const { application } = await fleet.addApplication('bolt', 1);
    const { requests, url } = await anAttacker();
    await addApplication(sql, 'theirs', webhooksAt(url));
    const moved = { ...application, ...webhooksAt(url) };
    await sql`
      update applications b set access_token = a.access_token, query_game_list_webhook = ${moved.query_game_list_webhook},
        query_game_detail_webhook = ${moved.query_game_detail_webhook}, query_cp_kyc_webhook = ${moved.query_cp_kyc_webhook}
      from applications a where a.application_id = 'theirs' and b.application_id = 'bolt'`;
    expect(await fleet.sync('bolt')).toMatchObject({ outcome: 'failed' });
    expect(requests).toEqual([]);
  });
});

describe('app update', () => {
  const database = useTestDatabase();
  const environment = () => ({
    ...asOperator(database.databaseUrl),
    ENCRYPTION_KEYS: keysText('k1'),
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
    NEW_TOKEN: 'another-token',
  });
  const update = (...args: string[]) => runCli(['app', 'update', 'acme', ...args], environment());
  const tokenOf = async () =>
    openAccessToken(ringOf(['k1']), (await findApplication(database.sql, 'acme')) as ApplicationRow);

  it('requires the token for a new origin, and for nothing else', async () => {
    const { sql } = database;
    const row = await addApplication(sql, 'acme', { query_cp_kyc_webhook: 'http://127.0.0.1:10/kyc' });
    const sealed = await sealAccessToken(ringOf(['k1']), row, ACCESS_TOKEN);
    await sql`
      update applications set access_token = ${sealed.access_token},
        access_token_keys = ${sql.json(sealed.access_token_keys)}`;

    const refused = await update('--query-game-list-webhook', 'http://127.0.0.1:11/list', '--json');
    expect(refused.exit).toBe(2);
    expect(documentOf(refused).error).toBe(
      'The access token of acme was not given for http://127.0.0.1:11: give the token for the new address with --access-token-file or --access-token-env.',
    );
    expect(await findApplication(sql, 'acme')).toMatchObject({
      query_game_list_webhook: 'http://127.0.0.1:9/list',
    });

    expect(await update('--query-game-list-webhook', 'http://127.0.0.1:9/v2')).toMatchObject({ exit: 0 });
    expect(await tokenOf()).toBe(ACCESS_TOKEN);
    // One origin less: the token is sealed again for those that are left.
    expect(await update('--query-cp-kyc-webhook', 'http://127.0.0.1:9/kyc')).toMatchObject({ exit: 0 });
    expect(await tokenOf()).toBe(ACCESS_TOKEN);
    const added = ['--query-cp-kyc-webhook', 'http://127.0.0.1:12/kyc', '--access-token-env', 'NEW_TOKEN'];
    expect(await update(...added)).toMatchObject({ exit: 0 });
    expect(await tokenOf()).toBe('another-token');
  });
});
