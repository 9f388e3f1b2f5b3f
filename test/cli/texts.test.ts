// The texts of the command line, in one golden file: `npx vitest run test/cli/texts -u` writes it, and its diff is read
// as a reader of the terminal reads it. Other tests assert exit codes, JSON and rows.
import { userInfo } from 'node:os';
import { beforeAll, expect, it } from 'vitest';
import { recordFailures } from '#db/queries/failures.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { runCli } from '#test/support/cli.ts';
import { addApplication, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const ABSENT = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
const gameId = (n: number): string => `019a0000-0000-7000-8000-00000000000${n}`;
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));

beforeAll(async () => {
  const { sql } = database;
  for (const id of ['acme', 'broken']) await addApplication(sql, id, { name: `The ${id}` });
  const games = ['Lantern Harbour', 'Velvet Ox', 'Paper Kite', 'Tiny Tram'].map((game_name, n) =>
    fetchedGame({ game_id: `g-${n}`, game_name }, at(n), { game_id: gameId(n) }),
  );
  await upsertGames(sql, 'acme', games);
  await decideGame(sql, { game_id: gameId(0), audit_status: 'passed' });
  await upsertGames(sql, 'acme', [fetchedGame({ game_id: 'g-0', game_name: 'Lantern Cove' }, at(9))]);
  await decideGame(sql, { game_id: gameId(1), audit_status: 'rejected', reason: 'incomplete' });
  await sql`update games set withdrawn_at = now() where game_id = ${gameId(3)}`;
  const run = await anOpenRun(sql, 'broken');
  await closeRun(sql, run, { outcome: 'failed', reason: 'page 1: connect_failed', fault: 'application' });
  await recordFailures(sql, 'broken', 'query_game_detail', [
    {
      application_game_id: 'g-9',
      kind: 'invalid_data',
      reasons: [{ path: 'game_icon.0', code: 'not_http_url' }],
    },
  ]);
});

/** Replaces what differs from run to run. */
const normalize = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?/g, '<time>')
    .replaceAll(/\d{4}-\d\d-\d\d/g, '<date>')
    .replaceAll(/(?!019a0000|019a2b3c)[0-9a-f]{8}(-[0-9a-f]{4}){3}(-[0-9a-f]{12})?/g, '<id>')
    .replaceAll(/\bgct_[\w-]+/g, '<token>')
    .replaceAll(/link=\S+/g, 'link=<link>')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replaceAll(/^\d+[smh]\b/gm, '<age>')
    .replaceAll(/(?<= )\d+[smh](?= {2}|$)/gm, '<age>')
    .replaceAll(new RegExp(`\\b${userInfo().username}\\b`, 'g'), '<user>')
    .replaceAll(/(?<=\S) {2,}/g, '  ');

/** A command with what it prints, as a terminal shows it; lines of stderr begin with "! ". */
const transcribe = async (command: string): Promise<string> => {
  const env = { ...asOperator(database.databaseUrl), CATALOGUE_HOME: '/nonexistent/catalogue-home' };
  const { exit, stdout, stderr } = await runCli(command.split(' '), env);
  const errors = stderr.replaceAll(/^(?=.)/gm, '! ');
  return `$ catalogue ${command}\n${normalize(stdout + errors)}[exit ${exit}]\n`;
};

const COMMANDS = [
  // Wrong usage.
  'synk',
  'app nonsense',
  'sync --nonsense',
  'app',
  'app add acme',
  'app update acme',
  'app update acme --every 1.5h',
  'app update acme --every 30s',
  'sync acme Bolt',
  'pull acme g-1 ',
  'app list --sort reason',
  `game reject ${gameId(2)} --by kim`,
  // What is not there.
  'app show acmee',
  'app show nobody',
  'run list nobody',
  `run show ${ABSENT}`,
  `run accept ${ABSENT} --by kim`,
  `game show ${ABSENT}`,
  'game undo 12x --by kim',
  'game undo 987654321 --by kim',
  `game undo ${ABSENT} --by kim`,
  'reason retire nope --by kim',
  'approval list',
  'event deliveries',
  'token list',
  'operator list',
  // Applications, runs and failures.
  'app list',
  'app list --outcome failed',
  'app show acme',
  'app pause acme',
  'app list --search acme',
  'app resume acme',
  'app update acme --rate 20',
  'run list',
  'run list --limit 1',
  'run days',
  'failure list',
  'sync acme',
  'sync acme',
  'queue status',
  'queue pause query-game-list',
  'queue resume',
  'kyc list',
  'kyc show acme',
  // Games.
  'game list',
  'game list --status pending --limit 1',
  `game show ${gameId(0)}`,
  `game diff ${gameId(0)}`,
  'game why acme g-1',
  'game why acme g-3',
  'game why acme g-unknown',
  `game pass ${gameId(2)} --by kim`,
  `game pass ${gameId(0)}@1 --by kim`,
  `game pass ${gameId(3)}@1 --by kim`,
  `game pass ${gameId(0)}@2 ${gameId(2)}@1 --by kim`,
  `game reject ${gameId(2)}@1 --by kim --reason ugly`,
  `game reject ${gameId(2)}@1 --by kim --reason incomplete --text Too-short.`,
  'reason list',
  // Access.
  'operator add olga --name Olga --role reviewer',
  'operator show olga',
  'operator disable olga',
  'token create --application acme --name web',
  'token list',
  'audit list',
  'audit verify',
  'app remove broken --yes',
];

it('are those of the golden file', async () => {
  const transcripts: string[] = [];
  for (const command of COMMANDS) transcripts.push(await transcribe(command));
  await expect(transcripts.join('\n')).toMatchFileSnapshot('texts.golden.txt');
});
