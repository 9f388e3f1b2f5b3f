// An operator's day by a client that is made from the document alone, against processes of a fleet.
import { type Document, OpenAPIClientAxios } from 'openapi-client-axios';
import { expect, test } from 'vitest';
import { startSampleApplication } from '#src/sample-application/start.ts';
import { webhooksAt } from '#test/support/factories.ts';
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
    const { address } = await fleet.start('api', { FOUR_EYES: 'withdrawals' });

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
    const added = {
      ...acme,
      name: 'Acme Games',
      access_token: PLANTED_TOKEN,
      ...webhooksAt(server.url),
    };
    await call('applicationAdd', added);
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
    const fared = await call('reviewOverturned', { filter: { since: '1d' } });
    expect(fared.list).toMatchObject([
      { reviewer: 'bot', reason: 'incomplete', rejections: 3, appeals: 0, share: null },
    ]);
    /** The code of a call that is refused. The document has its HTTP status for this operation. */
    const refusal = async (operationId: string, body: object, bearer = token): Promise<number> => {
      const headers = { authorization: `Bearer ${bearer}` };
      const answer = await client[operationId]?.(undefined, body, { headers });
      const documented = client.api.getOperation(operationId)?.responses ?? {};
      expect([operationId, Object.keys(documented)]).toEqual([
        operationId,
        expect.arrayContaining([String(answer?.status)]),
      ]);
      expect(answer?.data).toMatchObject({ data: null, ret_msg: expect.stringMatching(/./) });
      return answer?.data.ret_code;
    };
    const viewer = (
      await fleet.run('token', 'create', '--operator', 'bot', '--role', 'reviewer')
    ).stdout.trim();
    const game = seen[9];
    expect(await refusal('gamePass', { games: [{ ...game, revision: 7 }] })).toBe(40901);
    expect(await refusal('applicationPause', acme, viewer)).toBe(40301);
    expect(await refusal('applicationPause', { application_id: 'nobody' })).toBe(40402);
    expect(await refusal('gamePass', { games: Array(1_001).fill(game) })).toBe(40001);
    expect(await refusal('gamePass', { games: [{ ...game, revision: 'one' }] })).toBe(40001);
    expect(await refusal('reviewList', {}, 'gct_unknown')).toBe(40102);
    const again = { ...added, application_id: 'acme' };
    expect(await refusal('applicationAdd', again)).toBe(40901);
    // An empty list withdraws every game: a second person accepts that.
    for (const { game_id } of server.games.all()) server.games.remove(game_id);
    await call('applicationResume', acme);
    await call('runStart', acme);
    const suspect = await until('a run is suspect', async () => {
      const { list } = await call('runList', { filter: { ...acme, outcome: 'suspect' } });
      return list[0]?.run_id;
    });
    expect(await refusal('runAcceptWithdrawals', { run_id: suspect })).toBe(40302);
    // The minute of the limit may end between the calls, once: then they count anew.
    const codes: number[] = [];
    while (!codes.includes(42901) && codes.length < 2_500) {
      const calls = Array.from({ length: 100 }, () => client.reasonList?.(undefined, {}));
      codes.push(...(await Promise.all(calls)).map((answer) => answer?.data.ret_code));
    }
    expect(new Set(codes)).toEqual(new Set([0, 42901]));
  },
);
