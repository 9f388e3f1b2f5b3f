import { beforeAll, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { lockKycState, saveKycState } from '#db/queries/kyc.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { useTestFleet } from '#test/support/fleet.ts';
import { decideGame } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';

/** Sets the title of the window, clears the screen with the one-character form of ESC [, reverses the direction, and ends the line. */
const HOSTILE = 'Lantern\u001b]0;owned\u0007 \u009b2J\u202eHarbour\u2066\nRejected: nothing';
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for them
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

const fleet = useTestFleet('postgres');
let env: Record<string, string>;
let game_id: string;

beforeAll(async () => {
  const { sql, databaseUrl } = fleet;
  env = asOperator(databaseUrl);
  await addApplication(sql, 'acme');
  const game = fetchedGame({ game_id: HOSTILE, game_name: HOSTILE, game_info: HOSTILE });
  await upsertGames(sql, 'acme', [game]);
  ({ game_id } = game);
  await lockKycState(sql, 'acme');
  await saveKycState(sql, 'acme', { state: 'cp_id_changed', refused_cp_id: HOSTILE, pulled_at: new Date() });
});

const READABLE = /Lantern\ufffd\]0;owned\ufffd \ufffd2J\ufffdHarbour\ufffd Rejected: nothing/;

it.for([
  ['game list', () => ['game', 'list']],
  ['game show', () => ['game', 'show', game_id]],
  ['game pass', () => ['game', 'pass', `${game_id}@1`, '--by', 'kim']],
  ['kyc accept-cp-id', () => ['kyc', 'accept-cp-id', 'acme', '--by', 'kim', '--cp-id', HOSTILE]],
] as const)('%s prints text of an application without its control characters', async ([, args]) => {
  const { exit, stdout, stderr } = await runCli(args(), env);
  expect(exit).toBe(0);
  expect(stdout).toMatch(READABLE);
  expect(stdout + stderr).not.toMatch(ACTED_ON);
});

it.for(['catalogue game show', 'catalogue event retry', 'catalogue game', 'catalogue'])(
  'a wrong argument of %s is named without its control characters',
  async (command) => {
    const args = [...command.split(' ').slice(1), HOSTILE];
    const text = await runCli(args);
    const { exit, stdout, stderr } = await runCli([...args, '--json']);
    expect([text.exit, exit]).toEqual([2, 2]);
    expect(text.stderr).toContain('Lantern\ufffd]0;owned\ufffd \ufffd2J\ufffdHarbour\ufffd');
    expect(JSON.parse(stdout).error).toContain(HOSTILE);
    expect(text.stderr + stdout + stderr).not.toMatch(ACTED_ON);
  },
);

it('a JSON document contains the text of an application unchanged, in escapes', async () => {
  const result = await runCli(['game', 'show', game_id, '--json'], env);
  expect(documentOf(result)).toMatchObject({ game_name: HOSTILE, application_game_id: HOSTILE });
  expect(result.stdout).not.toMatch(ACTED_ON);
});

it('a cell of CSV has no control character, and no formula: by a letter of another width, or where ; parts cells', async () => {
  const { sql } = fleet;
  const named = async (game_name: string) => {
    const game = fetchedGame({ game_id: `csv ${game_name}`, game_name });
    await upsertGames(sql, 'acme', [game]);
    await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  };
  await named(HOSTILE);
  await named('\uff1dcmd|calc');
  await named('\n=cmd|calc');
  await named('a; =cmd|calc;b');
  await named('c;"=cmd|calc;d');
  const { exit, stdout } = await runCli(['decision', 'export', '--since', '1h', '--format', 'csv'], env);
  expect(exit).toBe(0);
  expect(stdout.replaceAll('\r\n', '\n')).not.toMatch(ACTED_ON);
  expect(stdout).toContain("'\uff1dcmd|calc");
  // A program that parts cells by ; takes the quotes for text, and each line for a row. Of two quotes it drops both.
  expect(stdout).toContain('"\'\n\'=cmd|calc"');
  expect(stdout).toContain("a;' =cmd|calc;b");
  expect(stdout).toContain(`c;'""=cmd|calc;d`);
});
