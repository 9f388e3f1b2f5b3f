// An application whose games are not stored, because its runs fail, its games do, or it is paused, or whose list is in doubt.
import { expect, test } from 'vitest';
import { findApplication } from '#db/queries/applications.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { ACCEPT_ADVICE, NO_GAME } from '#src/contract/words.ts';
import { nextRunAt } from '#src/rules/next-run.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('every page names one time of the next run, which also waits for its tick', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'ash');
  await closeRun(sql, await anOpenRun(sql, 'ash'), { outcome: 'failed', reason: 'page 1: timeout' });
  await sql`
    update applications
    set every_ms = 3600000, failing_since = now(), failed_runs = 1, next_attempt_at = now() + interval '1 hour'
    where application_id = 'ash'`;
  const next = nextRunAt(await findApplication(sql, 'ash'));
  for (const path of ['/portal', '/portal/runs'])
    expect(await page(path), path).toContain(`Next run <time datetime="${next?.toISOString()}"`);
});

test('without a stored game, a developer reads first that the runs or the games fail', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'elm');
  const reasons = [{ path: '', code: 'econnrefused' }];
  const failed = (application_game_id: string) => ({ application_game_id, kind: 'connect_failed', reasons });
  const seeFailures = '<a class="button primary" href="/portal/runs">See the failures</a>';
  await recordFailures(sql, 'elm', 'query_cp_kyc', [failed(NO_GAME)]);
  expect(await page('/portal/games'), 'a record is no game').toContain('Your games are not stored yet.');
  expect(await page('/portal')).toContain('<h2>Your KYC record could not be read</h2>');
  await recordFailures(sql, 'elm', 'query_game_detail', ['a', 'b'].map(failed));
  const ofGames = await page('/portal/games');
  expect(ofGames).toContain('<strong>Data of 2 games could not be read.</strong>');
  expect(ofGames).toContain(seeFailures);
  expect(ofGames).not.toContain('not stored yet');
  expect(ofGames).not.toContain('Check your webhooks');
  const outage = await page('/portal/runs');
  expect(outage, 'nothing answered').toContain('Make your server reachable, then have your list read.');
  expect(outage, 'a code says less than words').toMatch(
    /No connection, or it closed before the answer began\.<br><small>query_game_detail · econnrefused</,
  );
  await sql`update applications set failing_since = now() where application_id = 'elm'`;
  const ofRuns = await page('/portal/games');
  expect(ofRuns).toContain('<strong>The platform cannot read your list.</strong>');
  expect(ofRuns).toContain(seeFailures);
});

test('of a list that lost most of its games both pages say what to do, until the next run or until it is accepted', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'sorrel', [
    { game_id: 's-1', game_name: 'Sorrel One' },
    { game_id: 's-2', game_name: 'Sorrel Two' },
  ]);
  const end = async (outcome: 'suspect' | 'abandoned' | 'succeeded', reason: string | null) => {
    const run = await anOpenRun(sql, 'sorrel');
    await closeRun(sql, run, { outcome, reason });
    return run.run_id;
  };
  const MARK = '<span class="warn" aria-hidden="true">!</span>';
  const lost = 'Your list lost 1,380 of 1,400 games, so none was withdrawn';
  const run_id = await end('suspect', `would withdraw 1380 of 1400 games, so withdrew none${ACCEPT_ADVICE}`);
  await sql`update sync_runs set listing_end = 'complete' where run_id = ${run_id}`;
  await sql`insert into vanishing_games (run_id, game_id) select ${run_id}, game_id from games where application_game_id = 's-1'`;
  await end('abandoned', null);
  for (const path of ['/portal', '/portal/runs']) {
    const shown = await page(path);
    expect(shown, path).toMatch(
      new RegExp(
        `card warn">.{1,40}<h2>${lost}<.*id=s-1">s-1</a></span> and 1,379 more.*ask the operators to accept it.*Read my list now<`,
        's',
      ),
    );
    expect(shown, path).toContain(MARK);
    expect(shown, path).not.toContain('No open failures');
  }
  const open = await anOpenRun(sql, 'sorrel');
  for (const path of ['/portal', '/portal/runs', '/portal/game?id=s-1'])
    expect(await page(path), 'it is read').not.toContain('Read my list now');
  expect(await page('/portal/runs')).toContain(lost);
  await sql`delete from sync_runs where run_id = ${open.run_id}`;
  const unnamed = 'Your list no longer names this game';
  const ofGame = await page('/portal/game?id=s-1');
  expect(ofGame).toMatch(
    new RegExp(
      `card warn">.{1,40}<h2>${unnamed}<.*Your list lost 1,380 of 1,400 games\\..*Read my list now<`,
      's',
    ),
  );
  expect(ofGame).not.toMatch(/You need not do anything|Read this game now<\/button>/);
  expect(await page('/portal/game?id=s-2'), 'it was named').not.toContain(unnamed);
  const badge = '<span class="badge warn">not in your list</span>';
  for (const path of ['/portal/games', '/portal/games?q=sorrel']) {
    const listed = await page(path);
    expect(listed, path).toMatch(
      new RegExp(
        `card warn">.{1,40}<h2>${lost}<.*href="/portal/runs">See why<.*>s-1</small>(?:<span class="to-640">.{1,150}</small></span>)? ${badge}</span>`,
        's',
      ),
    );
    expect(listed.split(badge), 'the other was named').toHaveLength(2);
  }
  await upsertGames(sql, 'sorrel', [fetchedGame({ game_id: 's-1' }, new Date())]);
  expect(await page('/portal/game?id=s-1'), 'it was pulled since').not.toContain(unnamed);
  expect(await page('/portal/games'), 'it was pulled since').not.toContain(badge);
  await sql`delete from vanishing_games where run_id = ${run_id}`;
  expect(await page('/portal/runs'), 'it was accepted').not.toContain(lost);
  await end('suspect', 'a page named only <b> games');
  const other = await page('/portal/runs');
  expect(other).toContain('<h2>The last run could not read your list to its end</h2>');
  expect(other).toContain('a page named only &lt;b&gt; games.');
  await end('succeeded', null);
  expect(await page('/portal/games')).not.toContain('See why');
  const ended = await page('/portal/runs');
  expect(ended).not.toContain(MARK);
  expect(ended).toContain('No open failures');
});

test('while a run is open, the reason of the one that failed before stays, and no button begins another', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'yew', [{ game_id: 'y-1' }]);
  await closeRun(sql, await anOpenRun(sql, 'yew'), { outcome: 'failed', reason: 'page 1: timeout' });
  expect(await page('/portal/games')).toMatch(
    /card bad">.{1,40}<h2>The last run failed<.*href="\/portal\/runs">See why</s,
  );
  await sql`update games set audit_status = 'passed', audit_time = now() where application_id = 'yew'`;
  const live = await page('/portal/game?id=y-1');
  expect(live).toMatch(
    /<h2>The last run failed<.*href="\/portal\/runs">See why<.*The game is live.*Read this game now/s,
  );
  expect(live, 'a read may fail as well').not.toMatch(/You need not do anything|If you have changed it/);
  const absent = await page('/portal/game?id=new');
  expect(absent).toMatch(
    /<h2>The last run failed<.*If it is the game_id of a new game.*once the platform reads your list again/s,
  );
  await sql`update applications set failing_since = now() where application_id = 'yew'`;
  for (const path of ['/portal', '/portal/runs'])
    expect(await page(path), path).toMatch(/button primary" href="\/portal\/checks">.*Read my list now</s);
  await anOpenRun(sql, 'yew');
  for (const path of ['/portal', '/portal/runs']) {
    const shown = await page(path);
    expect(shown, path).toMatch(
      /<strong>The last run failed:<\/strong> <span dir="auto">query_game_list, page 1: no complete answer/,
    );
    expect(shown, path).toContain('Your list is being read');
    expect(shown, path).toContain('<span class="badge info">running</span>');
    expect(shown, path).not.toMatch(/Read my list now|Next run/);
  }
  await sql`update applications set failing_since = null where application_id = 'yew'`;
  expect(await page('/portal'), 'the menu says what the page says').toMatch(
    /games are not read<.*<h2>The last run failed</s,
  );
  const reasons = [{ path: 'game_icon', code: 'too_long' }];
  const failure = { application_game_id: 'y-2', kind: 'invalid_data', reasons };
  await recordFailures(sql, 'yew', 'query_game_detail', [failure]);
  const next = async () => /<p class="body">([^<]*)<\/p>/.exec(await page('/portal/runs'))?.[1];
  expect(await next()).toBe('Your list is being read: what you have corrected leaves this list.');
  await sql`update applications set status = 'paused' where application_id = 'yew'`;
  expect(await next()).toMatch(/^Correct your answers: your games are read when the platform resumes/);
});

test('a paused application is not read by any button, but its webhooks are checked before its developer asks to resume it', async () => {
  const { sql } = database;
  const { page, said } = await arrive(sql, portal.url, 'fir');
  const step = 'heck your webhooks';
  for (const path of ['/portal', '/portal/games', '/portal/runs']) {
    await sql`update applications set status = 'active' where application_id = 'fir'`;
    expect(await page(path), path).toContain(step);
    await sql`update applications set status = 'paused', pause_reason = 'ten runs failed' where application_id = 'fir'`;
    const paused = await page(path);
    expect(paused, path).not.toContain(step);
    expect(paused, path).not.toContain('Read my list now');
  }
  const overview = await page('/portal');
  expect(overview).toContain('There was none yet.');
  expect(overview).toContain('It is fetched when the application is resumed.');
  const way = 'Correct what failed, run the checks, then write to the operators: only they resume it.';
  for (const path of ['/portal', '/portal/runs']) expect(await page(path), path).toContain(way);
  const checks = await page('/portal/checks');
  expect(checks).toMatch(
    /card bad">.*does not read your games<.*Run the checks, then write to the operators\./s,
  );
  expect(checks).toContain('<button class="button primary">Run the checks</button>');
  expect(await said('/portal/checks', { act: 'check' })).toBe('good The checks have begun.');
});
