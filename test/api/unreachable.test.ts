import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { type ApiOptions, buildApi } from '#src/api/app.ts';
import { DETAIL, expectFailure, JSON_TYPE, LIST, startApi, useApi } from '#test/support/api.ts';
import { untilBlocked } from '#test/support/blocked.ts';
import { addToken } from '#test/support/factories.ts';

const served = useApi();
const { call } = served;

describe('when the database or the queue is unreachable', () => {
  const standIn = async (ready: ApiOptions['ready'], databaseUrl = 'postgres://none@127.0.0.1:1/none') => {
    const sql = openDatabase(databaseUrl, { max: 1 });
    const app = await buildApi({
      sql,
      auditTimeZone: 'UTC',
      logger: pino({ level: 'silent' }),
      ready,
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    return { url, close: () => Promise.all([app.close(), sql.end()]) };
  };

  test('a database that is down is 503 in the envelope', async () => {
    const { url, close } = await standIn(async () => {});
    const headers = { 'content-type': JSON_TYPE, authorization: `Bearer ${served.operatorToken}` };
    const response = await fetch(url + LIST, { method: 'POST', headers, body: '{"audit_status":"pending"}' });
    await expectFailure(response, 503, 50301);
    await close();
  });

  test('a database that takes no session of its role, or is not there, is 503 in the envelope', async () => {
    for (const part of ['username', 'pathname'] as const) {
      const databaseUrl = new URL(served.api.databaseUrl);
      databaseUrl[part] = '/none';
      const { url, close } = await standIn(async () => {}, databaseUrl.href);
      const headers = { 'content-type': JSON_TYPE, authorization: `Bearer ${served.operatorToken}` };
      const response = await fetch(url + LIST, {
        method: 'POST',
        headers,
        body: '{"audit_status":"pending"}',
      });
      await expectFailure(response, 503, 50301);
      await close();
    }
  });

  test('a database that hangs is 503 in the envelope, and its late result is dropped', async () => {
    const locked = openDatabase(served.api.databaseUrl, { max: 1 });
    for (const table of ['api_tokens', 'games']) {
      await locked`begin`;
      await locked`lock table ${locked(table)} in access exclusive mode`;
      // A wrong body is not reported before the token is known.
      const calls = table === 'api_tokens' ? [call(LIST), call(LIST, { body: '{' })] : [call(LIST)];
      for (const response of await Promise.all(calls)) await expectFailure(response, 503, 50301);
      await locked`rollback`;
      expect((await call(LIST)).status).toBe(200);
    }
    await locked.end();
  });

  test.for<[what: string, path: string, table: string]>([
    ['looks a token up', LIST, 'api_tokens'],
    ['reads a page', LIST, 'games'],
    ['reads a detail', DETAIL, 'games'],
  ])(
    'when the database ends a session that %s, the call is 503 and the next one is served',
    async ([, path, table]) => {
      const body = path === DETAIL ? '{"game_id":"x"}' : '{"audit_status":"pending"}';
      const locked = openDatabase(served.api.databaseUrl, { max: 1 });
      await locked`begin`;
      await locked`lock table ${locked(table)} in access exclusive mode`;
      const pending = call(path, { body });
      for (;;) {
        // Not in the transaction: it sees the activity of its start.
        const ended = await served.api.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like ${`%${table}%`}
          order by query_start limit 1`;
        if (ended.length > 0) break;
        await delay(5);
      }
      await locked`rollback`;
      await locked.end();
      await expectFailure(await pending, 503, 50301);
      expect((await call(path, { body })).status).toBe(200);
    },
  );

  test('a connection that is stuck delays no call on another connection', async () => {
    const own = await startApi();
    const operator = (await addToken(own.sql, null)).token;
    const locked = openDatabase(own.databaseUrl, { max: 1 });
    await locked`begin`;
    await locked`lock table games in access exclusive mode`;
    const stuck = fetch(own.url + DETAIL, {
      method: 'POST',
      body: '{"game_id":"x"}',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${operator}` },
    });
    await untilBlocked(own.sql);
    // The token is looked up, so that the answer shows that the database is read meanwhile.
    const refused = await fetch(own.url + LIST, {
      method: 'POST',
      body: '{"audit_status":"none"}',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${operator}` },
    });
    await expectFailure(refused, 400, 40001);
    await locked`rollback`;
    expect((await stuck).status).toBe(200);
    await locked.end();
    await own.close();
  });

  test('the API stops though the last use of a token cannot be written', async () => {
    const own = await startApi();
    const { token: unused } = await addToken(own.sql, null);
    const locked = await own.sql.reserve();
    await locked`begin`;
    await locked`set local idle_in_transaction_session_timeout = 0`;
    await locked`lock table api_tokens in share mode`;
    const answer = await fetch(own.url + LIST, {
      method: 'POST',
      body: '{"audit_status":"pending"}',
      headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${unused}`, connection: 'close' },
    });
    expect(answer.status).toBe(200);
    // The table is still locked.
    await own.close();
  });

  test('/readyz is 503 until database and queue are reachable, /healthz is always 200', async () => {
    let unreachable = true;
    const { url, close } = await standIn(async (what) => {
      if (unreachable && what === 'all') throw new Error('the queue is unreachable');
    });
    await expectFailure(await fetch(`${url}/readyz`), 503, 50301);
    expect((await fetch(`${url}/readyz?only=database`)).status).toBe(200);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    unreachable = false;
    const ready = await fetch(`${url}/readyz`);
    expect(await ready.json()).toEqual({ ret_code: 0, ret_msg: 'success', data: null });
    await close();
  });
});
