import { describe, expect, test } from 'vitest';
import { countPulled, readGamesBefore } from '#db/queries/pulled-games.ts';
import { hasWaitingGames, requestGames } from '#db/queries/refreshes.ts';
import { onlyValue } from '#db/rows.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { addUrgentJobs } from '#src/ingest/urgent-jobs.ts';
import { fleetBackend, startTestFleet } from '#test/support/fleet.ts';
import {
  goodDetail,
  idsOf,
  raw,
  startHostileApplication,
  wellBehaved,
} from '#test/support/hostile-application.ts';
import { listFailures } from '#test/support/stored-rows.ts';
import { until } from '#test/support/until.ts';

describe('A pull of more games than its application answers at once', () => {
  test.each([
    ['fetches each game once, and its result counts them all', 10, '0', 0],
    ['loses none of them, however long they waited before the first call', 20, '1', 2],
  ])('%s', async (_, count, delay, hours) => {
    await using use = new AsyncDisposableStack();
    const fleet = await startTestFleet(fleetBackend());
    use.defer(() => fleet.stop());
    const ids = idsOf('g', count);
    const answered: string[] = [];
    let left = 4;
    await startHostileApplication(
      fleet,
      'acme',
      {
        list: () => ({ data: null }),
        detail: (id) => {
          if (left === 0) {
            left = 4;
            return raw('', 429, { 'retry-after': delay });
          }
          left -= 1;
          answered.push(id);
          return { data: goodDetail(id) };
        },
      },
      { concurrency: 1 },
    );
    await fleet.startWorker();
    const before = await readGamesBefore(fleet.sql, 'acme', ids);
    await requestGames(fleet.sql, 'acme', ids);
    await fleet.sql`update refresh_requests set requested_at = now() - ${hours} * interval '1 hour'`;
    await until('all are pulled', async () => {
      await addUrgentJobs(fleet.sql, fleet.producer);
      return !(await hasWaitingGames(fleet.sql, 'acme', ids));
    });
    expect(answered.toSorted()).toEqual(ids);
    const counts = await countPulled(fleet.sql, 'acme', before);
    expect(counts).toEqual({ inserted: count, updated: 0, unchanged: 0, invalid: 0, failed: 0, missing: 0 });
    expect(await fleet.sql`select max(attempts) as attempts from refresh_requests`).toEqual([
      { attempts: null },
    ]);
  });

  test('counts an attempt of the games that it called, if others were answered', async () => {
    await using use = new AsyncDisposableStack();
    const fleet = await startTestFleet(fleetBackend());
    use.defer(() => fleet.stop());
    let left = 4;
    const detail = (id: string) => {
      left -= 1;
      return left < 0 ? raw('', 503) : { data: goodDetail(id) };
    };
    const list = () => ({ data: null });
    await startHostileApplication(fleet, 'acme', { list, detail }, { concurrency: 1 });
    await fleet.startWorker();
    await requestGames(fleet.sql, 'acme', idsOf('g', 10));
    const { id } = await fleet.producer.add(pullGameDetail, { application_id: 'acme' });
    await fleet.jobEnded(pullGameDetail, id);
    expect(
      await fleet.sql`select attempts, count(*)::int as games from refresh_requests group by attempts order by attempts`,
    ).toEqual([
      { attempts: 0, games: 3 },
      { attempts: 1, games: 3 },
    ]);
  });

  test('a write that a lock prevents for longer than the attempts last loses no request', async () => {
    await using use = new AsyncDisposableStack();
    const fleet = await startTestFleet(fleetBackend());
    use.defer(() => fleet.stop());
    await fleet.sql.unsafe(`
      create sequence refusals;
      grant all on sequence refusals to public;
      create function refuse() returns trigger language plpgsql as $$ begin
        perform nextval('refusals');
        raise exception 'locked' using errcode = 'lock_not_available';
      end $$;
      create trigger refuse before insert on games for each row execute function refuse()`);
    const ids = idsOf('g', 1);
    await startHostileApplication(fleet, 'acme', wellBehaved(ids));
    await fleet.startWorker();
    await requestGames(fleet.sql, 'acme', ids);
    const addPulls = async () => {
      await fleet.sql`update refresh_turns set next_at = now()`;
      await addUrgentJobs(fleet.sql, fleet.producer);
    };
    await until('more writes failed than a pull has attempts', async () => {
      await addPulls();
      const refused = await onlyValue(fleet.sql<{ n: number }[]>`select last_value::int as n from refusals`);
      return refused > pullGameDetail.options.attempts;
    });
    await fleet.sql`drop trigger refuse on games`;
    await until('the game is stored', async () => {
      await addPulls();
      return (
        (await fleet.sql`select from games where application_game_id = any(${ids})`).length === ids.length
      );
    });
    expect(await listFailures(fleet.sql, { limit: 10 })).toEqual([]);
  });

  test('ends games whose write always fails, and the failures name them', async () => {
    await using use = new AsyncDisposableStack();
    const fleet = await startTestFleet(fleetBackend());
    use.defer(() => fleet.stop());
    await fleet.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no room'; end $$;
      create trigger refuse before insert on games for each row execute function refuse()`);
    const ids = idsOf('g', 3);
    const { calls } = await startHostileApplication(fleet, 'acme', wellBehaved(ids));
    await fleet.startWorker();
    await requestGames(fleet.sql, 'acme', ids);
    await until('no request is left', async () => {
      await addUrgentJobs(fleet.sql, fleet.producer);
      return !(await hasWaitingGames(fleet.sql, 'acme', ids));
    });
    expect(calls.detail).toBe(ids.length * pullGameDetail.options.attempts);
    const failures = await listFailures(fleet.sql, { limit: 10 });
    expect(failures.map(({ kind, application_game_id }) => [application_game_id, kind]).sort()).toEqual(
      ids.map((id) => [id, 'internal']),
    );
  });
});
