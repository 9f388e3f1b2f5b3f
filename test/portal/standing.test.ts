// What keeps all games of an application from being live, and the overview of one that has nothing to fix.
import { expect, test } from 'vitest';
import { decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { setDecisionRules } from '#db/queries/decision-rules.ts';
import { closeRun } from '#db/queries/runs.ts';
import { insertVerdict } from '#db/queries/verdicts.ts';
import { holdApplication } from '#src/operations/holds.ts';
import { arrive } from '#test/portal/developer.ts';
import { useTestConsole } from '#test/support/console.ts';
import { anOpenRun, KIM } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { decideGame, operateAs } from '#test/support/operate.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const portal = useTestConsole(database);
const keys = ringOf(['k1']);

test('without a problem the overview says so; a hold and a record that was not accepted are problems', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'calm', [{ game_id: 'one' }, { game_id: 'two' }]);
  const [one] = await sql<{ game_id: string }[]>`
    select game_id from games where application_id = 'calm' and application_game_id = 'one'`;
  await decideGame(sql, { game_id: one?.game_id ?? '', audit_status: 'passed' });
  const calm = await page('/portal');
  expect(calm).toMatch(/card good">.*<h2>Nothing to fix<\/h2>.*1 game is live, 1 waits for review\./s);

  await store(sql, keys, 'calm', PLANTED);
  const [record] = await sql<
    { record_id: string }[]
  >`select record_id from kyc_records where application_id = 'calm'`;
  const expires_ms = 86_400_000;
  const verdict = {
    application_id: 'calm',
    record_id: record?.record_id ?? '',
    decided_by: 'mara',
    expires_ms,
  };
  await insertVerdict(sql, {
    ...verdict,
    verdict: 'incomplete',
    reason: 'incomplete',
    text: 'A digit is missing.',
  });
  const refused = await page('/portal');
  expect(refused).toMatch(
    /card bad">.*<h2>Your identity check: incomplete<\/h2>.*<blockquote dir="auto">A digit is missing\.</s,
  );
  expect(refused.split('A digit is missing.'), 'said once').toHaveLength(2);
  expect(refused).not.toContain('Nothing to fix');

  await sql`insert into application_holds (application_id, reason, held_by) values ('calm', 'A dispute of rights.', 'kim')`;
  const held = await page('/portal');
  expect(held).toMatch(
    /<h2>Your games are held: none of them is live<\/h2>.*A dispute of rights\..*The operators end the hold.*A digit is missing\./s,
  );
});

test('a missing KYC record is a problem while games need it', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'bare', [{ game_id: 'one' }]);
  await store(sql, keys, 'bare', null);
  expect(await page('/portal')).toContain('Nothing to fix');
  await setDecisionRules(sql, { games_need_verdict: true });
  expect(await page('/portal')).toContain('<h2>Your games cannot be passed without a KYC record</h2>');
  await setDecisionRules(sql, { games_need_verdict: false });
});

test('addresses that end before they are read again, or differ in each answer, are problems', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'signer', [{ game_id: 'one' }]);
  expect(await page('/portal')).toContain('Nothing to fix');
  await sql`update games set addresses_end_at = fetched_at + interval '59 seconds' where application_id = 'signer'`;
  const short = await page('/portal');
  expect(short).toMatch(
    /<h2>Addresses of your pictures end too soon<\/h2>.*<p>Your addresses end 59s after an answer, and your games are read every \S+: .* Sign addresses for at least \S+\..*href="\/portal\/checks"/s,
  );
  const run = await anOpenRun(sql, 'signer');
  const note = 'all 30 changed games changed in their addresses alone: npx catalogue app update signer';
  await closeRun(sql, run, { outcome: 'succeeded', reason: null, note });
  const moved = await page('/portal');
  expect(moved).toMatch(/<h2>All changed games changed in their addresses alone<\/h2>.*end too soon/s);
  expect(moved).not.toContain('npx catalogue');
});

test('the first tab of the games is one that has a game, what needs their developer first', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'tabs', [{ game_id: 'one' }, { game_id: 'two' }]);
  const games = await sql<{ game_id: string }[]>`select game_id from games where application_id = 'tabs'`;
  const open = async () =>
    /aria-current="page">\s*<span>(\w+)/.exec((await page('/portal/games')).split('"Status"')[1] ?? '')?.[1];
  expect(await open()).toBe('pending');
  for (const { game_id } of games) await decideGame(sql, { game_id, audit_status: 'passed' });
  expect(await open()).toBe('passed');
  await sql`update games set withdrawn_at = now() where application_id = 'tabs'`;
  expect(await open()).toBe('withdrawn');
});

test('the page of a held game says so first, with the reason; the list of games says it too', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'held', [{ game_id: 'one' }, { game_id: 'two' }]);
  const [one = { game_id: '' }] = await sql<
    { game_id: string }[]
  >`select game_id from games where application_id = 'held' order by application_game_id`;
  await decideGame(sql, { ...one, audit_status: 'passed' });
  const [two = { game_id: '' }] = await sql<{ game_id: string }[]>`
    select game_id from games where application_id = 'held' and application_game_id = 'two'`;
  await decideGame(sql, { ...two, audit_status: 'rejected', reason: 'rights' });
  const terms = { application_id: 'held', reason: 'A dispute <b>of rights</b>.' };
  await operateAs(sql, KIM, holdApplication, terms);
  const game = await page('/portal/game?id=one');
  expect(game).toMatch(
    /card bad">.*<h2>The game is not live: the platform holds the games of the application<\/h2>.*A dispute &lt;b&gt;of rights.*It was passed at revision 1\..*Held <time/s,
  );
  expect(game).not.toContain('Sent to review');
  expect(await page('/portal/game?id=two'), 'to mend it makes it not live').toMatch(
    /<h2>Your games are held: none of them is live<.*<h2>Rejected: /s,
  );
  const listed = await page('/portal/games');
  expect(listed).toMatch(
    /card bad">.*<h2>Your games are held: none of them is live<\/h2>.*A dispute &lt;b&gt;of rights/s,
  );
  expect(await page('/portal/games?status=passed')).toContain('Games that were passed wait under Pending');
  expect(game, 'a pull ends no hold').not.toContain('Read this game now</button>');
  expect(listed, 'where the operators are reached is not known').not.toContain('Write to the operators');
  await sql`update applications set status = 'paused' where application_id = 'held'`;
  for (const id of ['one', 'two'])
    expect(await page(`/portal/game?id=${id}`), 'the hold stands first').toMatch(
      /<h2>[^<]*(platform holds|are held)[^<]*<.*<h2>Your application is paused/s,
    );
});

test('while every rejection waits for its appeal nothing is red; the answer to one that was refused is the last note', async () => {
  const { sql } = database;
  const { page } = await arrive(sql, portal.url, 'argued', [{ game_id: 'one', game_name: 'Kite' }]);
  const [{ game_id } = { game_id: '' }] = await sql<
    { game_id: string }[]
  >`select game_id from games where application_id = 'argued'`;
  await decideGame(sql, { game_id, audit_status: 'rejected', reason: 'rights', text: 'Whose is it?' });
  await insertAppeal(sql, { game_id, text: 'Ours.' });
  const waits = await page('/portal');
  expect(waits).toMatch(
    /card info">.*<h2>Your appeal of Kite waits for a reviewer<.*Whose is it\?.*its appeal ends with that decision/s,
  );
  expect(waits).not.toMatch(
    /was rejected|class="stat bad|<span class="bad">1<|button primary" href="\/portal\/game/,
  );
  await decideAppeal(sql, { game_id, outcome: 'upheld', decided_by: 'rui', answer: 'Send the licence.' });
  const refused = await page('/portal');
  expect(refused).toMatch(/card bad">.*<h2>Kite was rejected<.*appeal refused<.*Send the licence\./s);
  expect(refused).toContain('<span class="bad">1<');
  for (const shown of [refused, await page('/portal/games')]) {
    expect(shown).toContain('Send the licence.');
    expect(shown).not.toContain('Whose is it?');
  }
});
