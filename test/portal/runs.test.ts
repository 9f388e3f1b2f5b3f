import { expect, test } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import { noteOpenRun } from '#db/queries/run-steps.ts';
import { closeRun } from '#db/queries/runs.ts';
import { NO_GAME } from '#src/contract/words.ts';
import { arrive } from '#test/portal/developer.ts';
import { startTestConsole, useTestConsole } from '#test/support/console.ts';
import { anOpenRun } from '#test/support/factories.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);

test('a developer reads what an open run waits for, and why an ended run missed games, without a command of operators', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'fir');
  const run = await anOpenRun(sql, 'fir');
  await noteOpenRun(sql, run, 'page 1: HTTP 503; by Retry-After, the application is called again at noon');
  const open = await page('/portal/runs');
  expect(open).toContain('called again at noon');
  expect(open).toContain('<span class="badge info">running</span>');
  expect(open, 'its counts are known at its end').not.toContain('<span class="none">0</span>');
  expect(open).toContain('<option value="open">running</option>');
  await closeRun(sql, run, { outcome: 'partial', reason: '1 invalid, 0 failed: see failure list' });
  const ended = await page('/portal/runs');
  expect(ended, 'the counts say it').not.toContain('1 invalid, 0 failed');
  expect(ended).not.toContain('called again at noon');
  const unread = 'page 1 could not be read: not_utf8; page 2 could not be read: elsewhere';
  await closeRun(sql, await anOpenRun(sql, 'fir'), { outcome: 'partial', reason: unread });
  const words = 'page 1 could not be read: the answer is not UTF-8; page 2 could not be read: elsewhere<';
  expect(await page('/portal/runs'), 'a code that has words is said in words').toContain(words);
});

test('a first run that is open is no success yet: it says what it waits for, and when', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'ilex');
  const run = await anOpenRun(sql, 'ilex');
  const tick = '<li class="done"><div><h3>The platform reads your list';
  for (const path of ['/portal', '/portal/games', '/portal/runs'])
    expect(await page(path), path).toMatch(/The run began <time [^>]*>[^<]*<\/time>\. It takes a minute/);
  expect(await page('/portal/games')).not.toMatch(/The next read|Read my list now/);
  const at = new Date(Date.now() + 150_000).toISOString().slice(0, 19);
  const again = `the application is called again at ${at.replace('T', ' ')} UTC`;
  await noteOpenRun(sql, run, `page 1: http_status HTTP 503; by Retry-After, ${again}`);
  const overview = await page('/portal');
  expect(overview).not.toContain(tick);
  expect(overview, 'a read would not begin').not.toContain('Read my list now');
  const runs = await page('/portal/runs');
  expect(runs).not.toContain('No open failures');
  expect(runs).toMatch(/card info">.*<h2>Reading your list</s);
  for (const shown of [overview, runs]) {
    expect(shown).toMatch(
      /by Retry-After, the application is called again <time datetime="[^"]*" title="[^"]*">in 2/,
    );
    expect(shown).not.toContain(`again at ${at.slice(0, 10)}`);
  }
  // What the application answers may imitate the note, with a time that is none.
  for (const own of [
    'called again at 2026-99-99 99:99:99 UTC"',
    'x called again at 2026-99-99 99:99:99 UTC',
  ]) {
    await noteOpenRun(sql, run, `page 1: ret_code 500 "${own}`);
    for (const path of ['/portal', '/portal/runs'])
      expect(await page(path)).toContain('2026-99-99 99:99:99 UTC');
  }
  await closeRun(sql, run, { outcome: 'abandoned', reason: null });
  for (const path of ['/portal', '/portal/runs']) {
    const ended = await page(path);
    expect(ended, path).not.toContain('No open failures');
    expect(ended, path).not.toContain(tick);
  }
  await closeRun(sql, await anOpenRun(sql, 'ilex'), { outcome: 'succeeded', reason: null });
  await sql`update applications set last_success_at = now() where application_id = 'ilex'`;
  await anOpenRun(sql, 'ilex');
  expect(await page('/portal'), 'the run before has read it').toContain(tick);
  expect(await page('/portal/runs')).toContain('No open failures');
});

test('a filter that cannot be read stays in its field, and the page says what to give', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'hazel');
  await closeRun(sql, await anOpenRun(sql, 'hazel'), { outcome: 'succeeded', reason: null });
  const shown = await page('/portal/runs?since=%3Csoon%3E&sort=listed');
  expect(shown).toMatch(
    /name="since" value="&lt;soon&gt;"[^>]* aria-invalid="true" aria-describedby="flaw-since">/,
  );
  expect(shown).toContain(
    '<p class="flaw" id="flaw-since">Give a duration as 24h or a date as 2026-03-31.</p>',
  );
  expect(shown).toContain('>Clear</a>');
  expect(shown, 'no link keeps it').not.toContain('since=');
  expect(await page('/portal/runs?since=24h')).not.toContain('aria-invalid');
});

test('failures of one cause are one row with its games, and runs without a change are one row', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'gum');
  const reasons = [{ path: 'game_icon.0', code: 'not_http_url' }];
  const failed = (application_game_id: string) => ({ application_game_id, kind: 'invalid_data', reasons });
  await recordFailures(sql, 'gum', 'query_game_detail', ['a', 'b', 'c', 'd', 'e'].map(failed));
  for (let n = 0; n < 3; n += 1)
    await closeRun(sql, await anOpenRun(sql, 'gum'), { outcome: 'succeeded', reason: null });
  const shown = await page('/portal/runs');
  expect(shown.split('game_icon.0 is not an http or https address')).toHaveLength(2);
  expect(shown).toContain('<summary>and 2 more</summary>');
  expect(shown, 'a phone reads when, too').toMatch(/<small class="to-640">last\s+<time/);
  for (const id of ['a', 'e']) expect(shown).toContain(`href="/portal/game?id=${id}"`);
  expect(shown, 'how often, and since when').toMatch(
    /<span class="soft" title="Runs in a row without a change">×\u00a03, since <time [^>]*>[^<]*<\/time><\/span>/,
  );
  expect(shown, 'the games may be read at once').toMatch(
    /<div class="acts"><form.*class="button primary">Read my list now<.*<a class="button" href="\/portal\/checks">Check your webhooks</s,
  );
  const COUNTED = ['Changed', 'Unchanged', 'Withdrawn'];
  for (const column of COUNTED) expect(shown, 'a column without a number').not.toContain(`>${column}</`);
  await sql`update sync_runs set updated = 1, unchanged = 2, withdrawn = 3 where application_id = 'gum'`;
  const counted = await page('/portal/runs');
  for (const column of COUNTED) expect(counted).toContain(`>${column}</`);
});

test('rows of the list without an id are counted, and named by their index in the answer', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'yew');
  const record = (paths: readonly string[], page?: number) =>
    recordFailures(sql, 'yew', 'query_game_list', [
      {
        application_game_id: NO_GAME,
        kind: 'invalid_item',
        reasons: paths.map((path) => ({ path, code: 'invalid_type', page })),
      },
    ]);
  await record(['list.3.game_id']);
  expect(await page('/portal/runs')).toContain('row <span><span class="mono">list.3</span></span>');
  expect(await page('/portal')).toContain('1 row could not be stored');
  await record(['list.0', 'list.3.game_id', 'list.7.game_id', 'list.7.game_name', 'list.12']);
  expect(await page('/portal/runs')).toMatch(
    /rows <span>.*list\.0<.*, .*list\.3<.*, .*list\.7<.*, .*list\.12</,
  );
  expect(await page('/portal/runs'), 'one more has the room').not.toContain('<summary>and 1 more');
  for (const [path, said] of [
    ['/portal', '<h2>4 rows could not be stored'],
    ['/portal/runs', '<h2>4 failures to fix'],
    ['/portal/checks', '<span class="warn">4</span>'],
  ] as const)
    expect(await page(path), 'each counts them alike').toContain(said);
  await record(['list.3.game_id', 'list.3.game_name', 'list.4'], 2);
  const onPage2 = await page('/portal/runs');
  expect(onPage2).toMatch(/rows <span>.*list\.3 \(page 2\)<.*, .*list\.4 \(page 2\)</);
  expect(onPage2).toMatch(/list\.4 is missing or of another type \(page 2\)/);
  await record(Array.from({ length: 20 }, (_, n) => `list.${n}`));
  expect(await page('/portal'), 'of a run, twenty are kept').toContain('At least 20 rows could not');
});

test('a developer whose application is paused is led to the checks, then to the operators if the platform says where', async () => {
  const { sql } = database;
  const reached = await startTestConsole(database, { contact: 'mailto:games@platform.example' });
  const pages = ['/portal', '/portal/runs', '/portal/game?id=one'];
  try {
    const { page } = await arrive(sql, reached.url, 'oak', [{ game_id: 'one' }]);
    await sql`update applications set status = 'paused', pause_reason = 'ten runs failed' where application_id = 'oak'`;
    const leads = (way: string) => new RegExp(`<a class="button primary" href="${way}<`);
    const mail = 'mailto:games@platform\\.example">Write to the operators';
    const checks = '/portal/checks">Run the checks';
    for (const path of ['/portal', '/portal/runs']) {
      expect(await page(path), path).toMatch(leads(checks));
      expect(await page(path), path).toMatch(new RegExp(`<a class="button" href="${mail}<`));
    }
    await sql`
      insert into application_checks (check_id, application_id, requested_by, requested_at, finished_at, passed, failed)
      values (gen_random_uuid(), 'oak', 'portal', now(), now(), 30, 0)`;
    for (const path of ['/portal', '/portal/runs']) expect(await page(path), path).toMatch(leads(mail));
    expect(await page('/portal/checks')).toMatch(leads(mail));
    expect(await page('/portal')).toContain('Your checks pass: ask the operators to resume it.');
    await closeRun(sql, await anOpenRun(sql, 'oak'), { outcome: 'failed', reason: 'page 1: timeout' });
    expect(await page('/portal'), 'a run failed after the checks').toMatch(leads(checks));
    await sql`update applications set pause_reason = null where application_id = 'oak'`;
    const byHand = await page('/portal');
    expect(byHand, 'an operator paused it').toMatch(leads(mail));
    expect(byHand).not.toContain('run the checks');
    await sql`insert into application_holds (application_id, reason, held_by) values ('oak', 'A dispute.', 'kim')`;
    expect((await page('/portal')).split('Write to the operators'), 'one button leads there').toHaveLength(2);
    const { page: lost } = await arrive(sql, reached.url, 'ash', [{ game_id: 'one' }]);
    const reason = 'would withdraw 30 of 40 games, so withdrew none';
    await closeRun(sql, await anOpenRun(sql, 'ash'), { outcome: 'suspect', reason });
    expect(await lost('/portal'), 'what a developer can do leads').toMatch(
      new RegExp(`<button class="button primary">Read my list now<.*<a class="button" href="${mail}<`, 's'),
    );
  } finally {
    await reached.stop();
  }
  const { page } = await arrive(sql, portal.url, 'elm', [{ game_id: 'one' }]);
  await sql`update applications set status = 'paused' where application_id = 'elm'`;
  for (const path of pages) expect(await page(path), path).not.toContain('Write to the operators');
});
