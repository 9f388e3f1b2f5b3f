import { describe, expect, it } from 'vitest';
import type { ApplicationGameDetail } from '#src/contract/application.ts';
import type { SampleApplication } from '#src/sample-application/start.ts';
import { startRawServer } from '#test/support/application-server.ts';
import { moveWebhooks } from '#test/support/factories.ts';
import { fleetBackend, useTestFleet } from '#test/support/fleet.ts';
import { gamesOf, oneGame } from '#test/support/landed.ts';
import { listFailures } from '#test/support/stored-rows.ts';

type Changes = Parameters<SampleApplication['games']['update']>[1];
/** What no well-behaved application answers. */
const wrong = (changes: object): Changes => changes as Changes;

describe('A run over an application with faults', () => {
  const fleet = useTestFleet(fleetBackend(), 1);

  it('ends partial with the reasons of one bad row and one bad detail, and clears them once they are mended', async () => {
    const { server } = await fleet.addApplication('two-bad', 120);
    const games = server.games.all();
    const [row, detail] = [games[5], games[110]] as [ApplicationGameDetail, ApplicationGameDetail];
    server.games.update(row.game_id, wrong({ game_name: 42 }));
    server.games.update(detail.game_id, wrong({ game_store_pic: ['ftp://cdn.example/1.png'] }));

    const run = await fleet.sync('two-bad');
    expect(run).toMatchObject({ outcome: 'partial', listed: 120, inserted: 118, invalid: 2, failed: 0 });
    const failures = await listFailures(fleet.sql, { application_id: 'two-bad', limit: 10 });
    expect(
      failures.map(({ operation, application_game_id, kind, reasons }) => ({
        operation,
        application_game_id,
        kind,
        reasons,
      })),
    ).toEqual(
      expect.arrayContaining([
        {
          operation: 'query_game_list',
          application_game_id: row.game_id,
          kind: 'invalid_item',
          reasons: [{ path: 'game_name', code: 'invalid_type' }],
        },
        {
          operation: 'query_game_detail',
          application_game_id: detail.game_id,
          kind: 'invalid_data',
          reasons: [{ path: 'game_store_pic.0', code: 'not_http_url' }],
        },
      ]),
    );
    expect(failures).toHaveLength(2);

    server.games.update(row.game_id, { game_name: row.game_name });
    server.games.update(detail.game_id, { game_store_pic: detail.game_store_pic });
    const mended = await fleet.sync('two-bad');
    expect(mended).toMatchObject({ outcome: 'succeeded', inserted: 2, unchanged: 118, invalid: 0 });
    expect(await listFailures(fleet.sql, { application_id: 'two-bad', limit: 10 })).toEqual([]);
  });

  it('keeps a known game whose row is bad, and does not withdraw it', async () => {
    const { server } = await fleet.addApplication('known-bad', 20);
    await fleet.sync('known-bad');
    const [game] = server.games.all() as [ApplicationGameDetail];
    server.games.update(game.game_id, wrong({ game_name: null }));
    expect(await fleet.sync('known-bad')).toMatchObject({ outcome: 'partial', invalid: 1, withdrawn: 0 });
    expect(await oneGame(fleet.sql, 'known-bad', game.game_id)).toMatchObject({
      game_name: game.game_name,
      withdrawn_at: null,
    });
  });

  it('counts a row without a game_id as invalid, and withdraws nothing while it does not know what was named', async () => {
    const { server } = await fleet.addApplication('unnamed', 20);
    await fleet.sync('unnamed');
    const [gone, nameless] = server.games.all() as [ApplicationGameDetail, ApplicationGameDetail];
    server.games.remove(gone.game_id);
    server.games.update(nameless.game_id, wrong({ game_id: '' }));
    const run = await fleet.sync('unnamed');
    expect(run).toMatchObject({ outcome: 'partial', invalid: 1, withdrawn: 0 });
    expect(run.note).toContain('named no game');
    const failures = await listFailures(fleet.sql, { application_id: 'unnamed', limit: 10 });
    expect(failures).toMatchObject([{ application_game_id: '', operation: 'query_game_list' }]);
  });

  it('names the page of each row without a game_id, also where several pages have one', async () => {
    const { server } = await fleet.addApplication('unnamed-pages', 220);
    for (const place of [3, 205, 207])
      server.games.update(String(server.games.all()[place]?.game_id), wrong({ game_id: '' }));
    for (const count of [1, 2]) {
      expect(await fleet.sync('unnamed-pages')).toMatchObject({ outcome: 'partial', invalid: 3 });
      const failures = await listFailures(fleet.sql, { application_id: 'unnamed-pages', limit: 10 });
      expect(failures).toMatchObject([{ application_game_id: '', count }]);
      expect(failures[0]?.reasons).toEqual([
        { path: 'list.3.game_id', page: 1, code: 'too_small' },
        { path: 'list.5.game_id', page: 3, code: 'too_small' },
        { path: 'list.7.game_id', page: 3, code: 'too_small' },
      ]);
    }
  });

  it('counts a detail that is null as missing and says so: nothing new comes of it, what is known stays', async () => {
    const { server } = await fleet.addApplication('null-detail', 4, { detail_max_age_ms: 0 });
    const [known, unknown] = server.games.all() as [ApplicationGameDetail, ApplicationGameDetail];
    const { get } = server.games;
    server.games.get = (id) => (id === unknown.game_id ? null : get(id));
    expect(await fleet.sync('null-detail')).toMatchObject({
      outcome: 'partial',
      reason: 'the list names 1 game whose detail is null: see failure list',
      inserted: 3,
      missing: 1,
    });
    server.games.get = (id) => (id === known.game_id ? null : get(id));
    expect(await fleet.sync('null-detail')).toMatchObject({ outcome: 'partial', inserted: 1, missing: 1 });
    expect(await oneGame(fleet.sql, 'null-detail', known.game_id)).toMatchObject({ withdrawn_at: null });
  });

  it('retries a detail when the connection breaks, and records a reason after the last attempt', async () => {
    const { server } = await fleet.addApplication('breaking', 30);
    const [once, always] = server.games.all() as [ApplicationGameDetail, ApplicationGameDetail];
    const { get } = server.games;
    let broken = 0;
    server.games.get = (id) => {
      // The sample application hangs up on whom it can't answer.
      if (id === always.game_id) throw new Error('hang up');
      if (id === once.game_id && broken++ === 0) throw new Error('hang up');
      return get(id);
    };
    const run = await fleet.sync('breaking');
    expect(run).toMatchObject({ outcome: 'partial', inserted: 29, failed: 1 });
    expect(broken).toBe(2);
    expect(await listFailures(fleet.sql, { application_id: 'breaking', limit: 10 })).toMatchObject([
      { application_game_id: always.game_id, operation: 'query_game_detail', kind: 'connect_failed' },
    ]);

    server.games.get = get;
    expect(await fleet.sync('breaking')).toMatchObject({ outcome: 'succeeded', inserted: 1, unchanged: 29 });
    expect(await listFailures(fleet.sql, { application_id: 'breaking', limit: 10 })).toEqual([]);
  });

  it('ends failed, with the reason, when the application does not respond', async () => {
    const { server } = await fleet.addApplication('silent', 5);
    await server.close();
    const run = await fleet.sync('silent');
    expect(run).toMatchObject({ outcome: 'failed', listed: 0, withdrawn: 0 });
    // Why, as for TLS: ehostunreach would be a host that has no route from here, such as one with IPv6 alone.
    expect(run.reason).toBe('page 1: connect_failed (econnrefused)');
  });

  it('ends failed, and withdraws nothing, when the application goes down after its first page', async () => {
    const { server } = await fleet.addApplication('half-way', 250);
    await fleet.sync('half-way');
    const { page } = server.games;
    server.games.page = (num, size) => {
      if (num > 1) throw new Error('hang up');
      return page(num, size);
    };
    const run = await fleet.sync('half-way');
    expect(run).toMatchObject({ outcome: 'failed', withdrawn: 0, listed: 100 });
    expect(run.reason).toBe('page 2: connect_failed');
    const rows = [...(await gamesOf(fleet.sql, 'half-way')).values()];
    expect(rows.filter((row) => row.withdrawn_at !== null)).toEqual([]);
  });

  it.for([404, 302, 503])('ends partial when every detail call has the HTTP answer %i', async (status) => {
    const application_id = `no-detail-${status}`;
    const { server } = await fleet.addApplication(application_id, 40);
    const broken = await startRawServer((request, response) => {
      request.resume().on('end', () => response.writeHead(status, { location: '/' }).end());
    });
    try {
      await moveWebhooks(fleet.sql, application_id, { query_game_detail_webhook: broken.url });
      const run = await fleet.sync(application_id);
      expect(run).toMatchObject({ outcome: 'partial', inserted: 0 });
      expect(run.failed + run.invalid).toBe(40);
    } finally {
      await broken.close();
    }
    expect(server.calls.query_game_detail).toBe(0);
  });

  it('ends suspect after two calls, and withdraws nothing, when the application ignores page_num', async () => {
    const { server } = await fleet.addApplication('one-page', 250);
    await fleet.sync('one-page');
    const { page } = server.games;
    server.games.page = (_num, size) => page(1, size);
    server.calls.query_game_list = 0;
    const run = await fleet.sync('one-page');
    expect(server.calls.query_game_list).toBe(2);
    expect(run).toMatchObject({ outcome: 'suspect', withdrawn: 0, listed: 100 });
    expect(run.reason).toContain('page_num');
  });

  it('ends failed with the code and the words of an application that goes on refusing', async () => {
    const { server } = await fleet.addApplication('refusing', 5);
    await fleet.sql`
      update applications set query_game_list_webhook = ${`${server.url}/nowhere`}
      where application_id = 'refusing'`;
    const run = await fleet.sync('refusing');
    expect(run.outcome).toBe('failed');
    expect(run.reason).toBe('page 1: ret_code 40401 "not found"');
  });
});
