import { expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { decideAppeal, insertAppeal } from '#db/queries/appeals.ts';
import { upsertGames } from '#db/queries/games.ts';
import { insertMessage } from '#db/queries/threads.ts';
import { documentOf } from '#test/support/cli.ts';
import { addApplication, fetchedGame, KIM } from '#test/support/factories.ts';
import { decideGame, setPackageUrls, undoGameDecisions } from '#test/support/operate.ts';
import { createTestDatabase } from '#test/support/postgres-server.ts';
import { CONTENT, DECIDED, importArgs, useTransfers } from '#test/transfer/transfers.ts';

const { fleet, fileOf, importLines, run } = useTransfers();

it('export, import into an empty database, export: equal bytes', async () => {
  const { sql } = fleet;
  await addApplication(sql, 'taken');
  const games = Array.from({ length: 40 }, (_, n) =>
    fetchedGame({ game_id: `g-${n} =\u202e,"`, game_info: CONTENT.game_desc, game_name: `游戏 ${n}` }),
  );
  await upsertGames(sql, 'taken', games);
  const [first, second, third, fourth] = games.map(({ game_id }) => game_id);
  for (const { game_id } of games.slice(0, 20)) await decideGame(sql, { game_id, audit_status: 'passed' });
  const rejection = { audit_status: 'rejected', reason: 'rights', text: 'No.\nNever.' } as const;
  await decideGame(sql, { game_id: second ?? '', ...rejection });
  await decideGame(sql, { game_id: third ?? '', ...rejection });
  const [last] = await sql<{ audit_id: number }[]>`
    select max(audit_id) as audit_id from game_audits where game_id = ${third ?? ''}`;
  await undoGameDecisions(sql, [last?.audit_id ?? 0], KIM);
  await setPackageUrls(sql, [{ game_id: first ?? '', game_package_url: 'https://cdn.example/a.zip' }], KIM);
  await sql`update games set withdrawn_at = now() where game_id = ${fourth ?? ''}`;
  const waiting = { application_game_id: 'waits', game_package_url: 'https://cdn.example/b.zip', ...DECIDED };
  expect((await importLines('taken', [waiting])).exit).toBe(0);

  const exported = await run(['game', 'export', '--application', 'taken']);
  expect(exported.stdout.trim().split('\n')).toHaveLength(41);
  const empty = await createTestDatabase();
  const other = openDatabase(empty.databaseUrl, { max: 2, applicationName: 'import test' });
  try {
    await addApplication(other, 'taken');
    const file = await fileOf([exported.stdout.trimEnd()]);
    const imported = await run(importArgs('taken', file), empty.databaseUrl);
    expect(imported.stdout).toBe(
      '41 imported: 20 decided, 20 pending, 1 wait for their first pull. 0 were stored already.\n',
    );
    expect((await run(['game', 'export'], empty.databaseUrl)).stdout).toBe(exported.stdout);
    const rejected = await run(['game', 'export', '--status', 'rejected'], empty.databaseUrl);
    expect(rejected.stdout.trim().split('\n')).toHaveLength(1);
  } finally {
    await other.end();
    await empty.drop();
  }
});

it('decision export: each decision with its reason, its wait, and whether it stands; no cell is a formula', async () => {
  const { sql } = fleet;
  await addApplication(sql, 'regulated');
  const game = fetchedGame({ game_id: '=cmd()', game_name: '@SUM(1), "x"' });
  await upsertGames(sql, 'regulated', [game]);
  const since = new Date().toISOString();
  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  await decideGame(sql, {
    game_id: game.game_id,
    audit_status: 'rejected',
    reason: 'rights',
    text: '+1\nand more',
  });
  const { game_id } = game;
  await insertMessage(sql, { game_id, kind: 'note', written_by: 'kim', text: 'private' });
  await insertMessage(sql, { game_id, kind: 'message', written_by: 'kim', text: 'Whose is it?' });
  await insertMessage(sql, { game_id, kind: 'answer', written_by: 'regulated', text: 'Ours;=cmd();"x".' });
  await insertAppeal(sql, { game_id, text: 'Look again.' });
  await decideAppeal(sql, { game_id, outcome: 'upheld', decided_by: 'lee', answer: 'No.' });
  const lines = (await run(['decision', 'export', '--since', since])).stdout.trim().split('\n');
  const ours = lines.map((line) => JSON.parse(line)).filter((row) => row.application_id === 'regulated');
  expect(ours).toMatchObject([
    {
      appeal_outcome: null,
      thread: [],
      audit_status: 'passed',
      stands: false,
      waited_s: expect.any(Number),
      reason: null,
    },
    {
      audit_status: 'rejected',
      stands: true,
      waited_s: null,
      reason: 'rights',
      reason_label: expect.stringContaining('Rights'),
      text: '+1\nand more',
      decided_by: 'kim',
      game_name: '@SUM(1), "x"',
      appeal_outcome: 'upheld',
      appeal_text: 'Look again.',
      appeal_decided_by: 'lee',
      appeal_answer: 'No.',
      thread: [
        { written_by: 'kim', text: 'Whose is it?' },
        { written_by: 'regulated', text: 'Ours;=cmd();"x".' },
      ],
    },
  ]);
  const csv = (await run(['decision', 'export', '--since', since, '--format', 'csv'])).stdout;
  expect(csv.split('\r\n')[0]).toMatch(/^audit_id,application_id,application_game_id,/);
  expect(csv).toContain(`,'=cmd(),`);
  expect(csv).toContain(`"'@SUM(1), ""x"""`);
  expect(csv).toContain(`"'+1\nand more"`);
  expect(csv).toContain('""written_by"": ""regulated""'.replaceAll(': ', ':'));
  expect(csv).toContain('Ours\\u003b=cmd()');
  expect(csv).not.toContain('private');
  expect((await run(['decision', 'export', '--since', 'nonsense'])).exit).toBe(2);
  const both = await run(['decision', 'export', '--since', since, '--format', 'csv', '--json']);
  expect({ exit: both.exit, ...documentOf(both) }).toEqual({
    exit: 2,
    error: 'Give --json or --format csv, not both.',
  });
});
