// An operator's day by a client that is made from the document alone, against processes of a fleet.
import { type Document, OpenAPIClientAxios } from 'openapi-client-axios';
import { expect, test } from 'vitest';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { createSmallFleet, PLANTED_TOKEN, withoutRedis } from '#test/support/small-fleet.ts';
import { until } from '#test/support/until.ts';

const GAMES = 12;

test.skipIf(withoutRedis())(
  'registers, checks, syncs, reviews, undoes, retries, pauses and counts',
  async () => {
    await using fleet = await createSmallFleet();
    await using resources = new AsyncDisposableStack();
    const server = await startSampleApplication({ accessToken: PLANTED_TOKEN, games: GAMES, seed: 'acme' });
    resources.defer(() => server.close());
    expect((await fleet.run('migrate')).exit).toBe(0);
    const roles = ['--role', 'admin', '--role', 'reviewer'];
    expect((await fleet.run('operator', 'add', 'bot', ...roles)).exit).toBe(0);
    const token = (await fleet.run('token', 'create', '--operator', 'bot')).stdout.trim();
    await fleet.start('worker');
    const { address } = await fleet.start('api');

    const definition = (await (await fetch(new URL('/openapi-operator.json', address))).json()) as Document;
    const client = await new OpenAPIClientAxios({
      definition,
      withServer: { url: address },
      axiosConfigDefaults: { headers: { authorization: `Bearer ${token}` }, validateStatus: () => true },
    }).init();
    const call = async (operationId: string, body: object = {}) => {
      const operation = client[operationId];
      if (operation === undefined) throw new Error(`the document has no ${operationId}`);
      const { data } = await operation(undefined, body);
      expect([operationId, data.ret_msg]).toEqual([operationId, 'success']);
      return data.data;
    };

    const acme = { application_id: 'acme' };
    await call('applicationAdd', {
      ...acme,
      name: 'Acme Games',
      access_token: PLANTED_TOKEN,
      query_game_list_webhook: `${server.url}/webhooks/query_game_list`,
      query_game_detail_webhook: `${server.url}/webhooks/query_game_detail`,
      query_cp_kyc_webhook: `${server.url}/webhooks/query_cp_kyc`,
    });
    expect(await call('applicationCheck', acme)).toEqual({ opened: true });
    await call('runStart', acme);
    await until('a run has succeeded', async () => {
      const { list } = await call('runList', { filter: { ...acme, outcome: 'succeeded' } });
      return list.length > 0;
    });
    const lane = await call('reviewList', { limit: 100 });
    expect(lane).toMatchObject({ total: GAMES, next: null });
    const seen = lane.list.map(({ game_id, revision }: { game_id: string; revision: number }) => ({
      game_id,
      revision,
    }));
    const { batch_id } = await call('gamePass', { games: seen.slice(0, 5) });
    await call('gameReject', { games: seen.slice(5, 8), reason: 'incomplete', text: 'The end is missing.' });
    expect(await call('gameUndo', { batch_id })).toHaveLength(5);
    expect((await call('gameList', { filter: { audit_status: 'rejected' } })).total).toBe(3);
    await call('failureRetry', acme);
    expect(await call('applicationPause', acme)).toEqual({ ...acme, status: 'paused' });
    const days = await call('runDays', { filter: acme });
    expect(days.list).toContainEqual(expect.objectContaining({ outcome: 'succeeded', inserted: GAMES }));
    const { data: refused } = (await client.gamePass?.(undefined, {
      games: [{ ...seen[9], revision: 7 }],
    })) ?? { data: undefined };
    expect(refused).toMatchObject({ ret_code: 40901, data: null });
  },
);
