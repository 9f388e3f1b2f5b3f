// `apply`: a file says what applications and reasons should be.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { runCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';
import { everyRow } from '#test/support/stored.ts';
import { openTerminal, terminalTest } from '#test/support/terminal.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { until } from '#test/support/until.ts';

const database = useTestDatabase();
let home: string;
const KEYS = [8, 9].map((byte) => `k${byte}:${Buffer.alloc(32, byte).toString('base64')}`).join(',');
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'catalogue-apply-'));
  await writeFile(join(home, 'acme.token'), 'the-token-of-acme\n');
  execFileSync('mkfifo', [join(home, 'pipe')]);
  const { DATABASE_URL_OPERATOR } = asOperator(database.databaseUrl);
  await writeFile(join(home, 'password'), `${DATABASE_URL_OPERATOR}\n`);
  await writeFile(join(home, 'one-line.env'), `DATABASE_URL_OPERATOR=${DATABASE_URL_OPERATOR}\n`);
  // Secrets of Docker, of which settings are made.
  await writeFile(join(home, 'docker-password'), decodeURIComponent(new URL(DATABASE_URL_OPERATOR).password));
  await writeFile(join(home, 'one-key'), `${KEYS.split(',')[1]}\n`);
  // As the embedded Postgres and the first process write them.
  await writeFile(join(home, 'postgres.json'), '{"directory":"postgres","password":"a1b2c3"}');
  await writeFile(join(home, 'keys'), `home-0123abcd:${Buffer.alloc(32, 7).toString('base64')}\n`);
});
afterAll(async () => {
  await rm(home, { recursive: true });
});

const TOKEN = 'the-token-of-others';
/** Of what reads them, and of Compose, whose file of settings commands read too. */
const OTHER_SETTINGS = {
  PGPASSWORD: ' a-password-of-postgres ',
  POSTGRES_PASSWORD_WORKER: 'a-password-of-the-worker',
  AWS_SECRET_ACCESS_KEY_WORKER: 'a-key-of-the-worker',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=a-key-of-telemetry',
};
const environment = () => ({
  ...asOperator(database.databaseUrl),
  ...OTHER_SETTINGS,
  ENCRYPTION_KEYS: KEYS,
  CATALOGUE_HOME: home,
  OTHERS_TOKEN: TOKEN,
});
const catalogue = (...args: string[]) => runCli(args, environment());
const apply = async (text: string | Buffer, ...args: string[]) => {
  const file = join(home, 'catalogue.yaml');
  await writeFile(file, text);
  return catalogue('apply', '--file', file, ...args);
};

const application = (id: string, more = '') => `  ${id}:
    name: ${id} Games
    query_game_list_webhook: https://${id}.example/list
    query_game_detail_webhook: https://${id}.example/detail
    query_cp_kyc_webhook: https://${id}.example/kyc
${more}`;
const FILE = `applications:
${application('acme', '    access_token_file: acme.token\n    every: 30m')}
${application('mizu', '    access_token_env: OTHERS_TOKEN')}
reasons:
  gambling: { label: Misleading, text: The pictures promise what the game does not have. }
`;

test('prints what it would change, changes it, and says 0 changes the second time, without a write', async () => {
  const dry = await apply(FILE, '--dry-run');
  expect(dry).toMatchObject({ exit: 0 });
  const added = (id: string, more: string) => `+ application ${id}
    name: "${id} Games"
    query_game_list_webhook: "https://${id}.example/list"
    query_game_detail_webhook: "https://${id}.example/detail"
    query_cp_kyc_webhook: "https://${id}.example/kyc"
${more}
`;
  expect(dry.stdout).toBe(
    `${added('acme', '    every: "30m"\n    access_token: from the file acme.token')}${added('mizu', '    access_token: from the variable OTHERS_TOKEN')}+ reason gambling\n3 changes, not made.\n`,
  );
  expect(await database.sql`select from applications`).toHaveLength(0);
  expect((await apply(FILE)).stdout).toContain('3 changes.');
  const before = await everyRow(database.sql);
  expect((await apply(FILE)).stdout).toBe('0 changes.\n');
  expect((await apply(FILE, '--prune', '--dry-run')).stdout).toContain('- reason ');
  expect(await everyRow(database.sql)).toEqual(before);
});

test('shows each field of a change but no token, and takes one back', async () => {
  const changed = FILE.replace('30m', '1h').replace('Misleading,', 'Misleading pictures,');
  const { stdout } = await apply(changed);
  expect(stdout).toContain('~ application acme\n    every: "30m" -> "1h"\n');
  expect(stdout).toContain('~ reason gambling\n    label: "Misleading" -> "Misleading pictures"\n');
  await writeFile(join(home, 'acme.token'), 'another-token-of-acme\n');
  const rotated = await apply(changed);
  expect(rotated.stdout).toBe(
    '~ application acme\n    access_token: another one, from the file acme.token\n1 change.\n',
  );
  expect((await apply(changed)).stdout).toBe('0 changes.\n');
  expect((await apply(FILE)).stdout).toContain('2 changes.');
  const [row] = await database.sql`select every_ms from applications where application_id = 'acme'`;
  expect(row?.every_ms).toBe(1_800_000);
  const entries = JSON.stringify(await listAudit(database.sql, { limit: 100 }));
  expect(stdout + rotated.stdout + entries).not.toContain('token-of');
});

const WRONG: [what: string, text: string, ...says: string[]][] = [
  ['no YAML', 'applications: [', 'line 1: '],
  [
    'a field that is none',
    FILE.replace('every:', 'evry:'),
    'line 8: applications.acme.evry is no field of it',
  ],
  ['a wrong value', FILE.replace('30m', '30 parsecs'), 'line 8: applications.acme.every must be a duration'],
  ['no name', FILE.replace('    name: mizu Games\n', ''), 'line 9: applications.mizu.name '],
  ['a wrong id', FILE.replace('  mizu:', '  MIZU!:'), 'line 9: applications.MIZU! '],
  [
    'a missing file of a token',
    FILE.replace('acme.token', 'none.token'),
    'acme: access_token_file none.token cannot be read (ENOENT)',
  ],
  ['an unset variable', FILE.replace('OTHERS_TOKEN', 'NO_TOKEN'), 'mizu: access_token_env NO_TOKEN is empty'],
  [
    'a setting of the platform as a token, which would be sent to the application',
    FILE.replace('OTHERS_TOKEN', 'DATABASE_URL_OPERATOR'),
    'mizu: access_token_env DATABASE_URL_OPERATOR is a setting of the platform',
  ],
  [
    'the file of such a setting',
    FILE.replace('acme.token', 'password'),
    'acme: access_token_file password is a setting of the platform',
  ],
  ...Object.keys(OTHER_SETTINGS).map((name): (typeof WRONG)[number] => [
    `a setting that is read as ${name}`,
    FILE.replace('OTHERS_TOKEN', name),
    `mizu: access_token_env ${name} is a setting of the platform`,
  ]),
  ...['one-line.env', 'docker-password', 'one-key', 'keys', 'postgres.json'].map(
    (name): (typeof WRONG)[number] => [
      `the file ${name}, with a secret of the platform`,
      FILE.replace('acme.token', name),
      `acme: access_token_file ${name} is a setting of the platform`,
    ],
  ),
  [
    'a file without an end as a token',
    FILE.replace('acme.token', '/dev/zero'),
    'acme: access_token_file /dev/zero is not one line of visible ASCII characters',
  ],
  ['a pipe as a token', FILE.replace('acme.token', 'pipe'), 'acme: access_token_file pipe is empty'],
  [
    'aliases of aliases',
    Array.from({ length: 9 }, (_, n) => `k${n}: &k${n} [${n === 0 ? 'x' : `*k${n - 1},`.repeat(9)}]\n`).join(
      '',
    ),
    'catalogue.yaml: Excessive alias count',
  ],
  [
    'a new application without a token',
    `${application('new')}`.replace(/^/, 'applications:\n'),
    'new is new: give it access_token_file',
  ],
  [
    'the same id twice',
    `applications:\n${application('acme')}${application('acme')}`,
    'line 7: Map keys must be unique',
  ],
  ['an id that JavaScript does not take', FILE.replace('  acme:', '  __proto__:'), '__proto__ is no id'],
  [
    'a file of wrong lines',
    `applications:\n${Array.from({ length: 100 }, (_, n) => `  a${n}: 1\n`).join('')}`,
    'line 21: applications.a19 must be a JSON object\nand 80 more\nNothing was changed.',
  ],
  [
    'a file of 100,000 wrong ids, which the library would compare with each other for a quarter of an hour,',
    `reasons:\n${Array.from({ length: 100_000 }, (_, n) => `  r${n}: 1\n`).join('')}`,
    'and 99980 more\nNothing was changed.',
  ],
];
test.each(WRONG)('%s changes nothing, and the line and the field are named', async (_what, text, ...says) => {
  const before = await everyRow(database.sql);
  const { exit, stderr, stdout } = await apply(text.replace('name: acme Games', 'name: Changed'));
  expect([exit, stdout]).toEqual([2, '']);
  for (const each of says) expect(stderr).toContain(each);
  expect(await everyRow(database.sql)).toEqual(before);
});

test('a file that is no UTF-8 changes nothing', async () => {
  const { exit, stderr } = await apply(Buffer.from(FILE.replace('acme Games', '\xff'), 'latin1'));
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('cannot be read: The encoded data was not valid'),
  ]);
});

test('reads stdin, as in a container, and names it where a line is wrong', async () => {
  const fromStdin = (text: string) => runCli(['apply', '--file', '-', '--dry-run'], environment(), text);
  const piped = `applications:\n${application('piped', '    access_token_env: OTHERS_TOKEN')}\n`;
  expect(await fromStdin(piped)).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^\+ application piped\n[\s\S]*1 change, not made\.\n$/),
  });
  expect(await fromStdin(piped.replace('name:', 'nom:'))).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('stdin, line 3: applications.piped.nom is no field of it'),
  });
});

test('--prune leaves what belongs to a part that the file does not have', async () => {
  await apply(FILE);
  const [applications = '', reasons = ''] = FILE.split(/^(?=reasons:)/m);
  expect((await apply(applications, '--prune', '--yes')).stdout).toBe('0 changes.\n');
  expect((await apply('', '--prune', '--yes')).stdout).toBe('0 changes.\n');
  const { stdout } = await apply(reasons, '--prune', '--dry-run');
  expect(stdout).toContain('- reason other');
  expect(stdout).not.toContain('- application');
});

terminalTest(
  '--prune takes a confirmation, on a terminal the number of applications, then removes what the file does not name',
  async () => {
    const one = FILE.slice(0, FILE.indexOf('  mizu:'));
    const refused = await apply(one, '--prune');
    expect(refused).toMatchObject({ exit: 2 });
    expect(refused.stderr).toContain('--prune removes 1 application (mizu): add --yes. Nothing was changed.');
    const terminal = await openTerminal({
      columns: 100,
      env: { ...asOperator(database.databaseUrl), CATALOGUE_HOME: home, OTHERS_TOKEN: TOKEN },
    });
    onTestFinished(terminal.close);
    const before = await everyRow(database.sql);
    await terminal.type(`catalogue apply --file ${join(home, 'catalogue.yaml')} --prune; echo "[exit $?]"`);
    await until('apply asks', async () => /to\s+confirm:/.test(await terminal.screen()));
    await terminal.type('2');
    await until('apply ends', async () => (await terminal.screen()).includes('[exit 1]'));
    expect(await terminal.screen()).toContain('Nothing was changed.');
    expect(await everyRow(database.sql)).toEqual(before);
    const { stdout } = await apply(one, '--prune', '--yes');
    expect(stdout).toContain('- application mizu');
    expect((await apply(one, '--prune', '--yes')).stdout).toBe('0 changes.\n');
    const [row] = await database.sql`select status from applications where application_id = 'mizu'`;
    expect(row?.status).toBe('removed');
  },
);

test('app export writes a file that changes nothing', async () => {
  await apply(FILE.replace('  mizu:', '  fjord:'));
  const { stdout } = await catalogue('app', 'export');
  expect(stdout).toContain('every: 30m');
  expect(stdout).not.toContain('kyc_every');
  expect((await apply(stdout, '--prune')).stdout).toBe('0 changes.\n');
  const json = await catalogue('app', 'export', '--json');
  expect((await apply(json.stdout, '--prune')).stdout).toBe('0 changes.\n');
});

test('warns of an address that workers refuse, as app add does, also in a dry run', async () => {
  const text = `applications:
${application('private', '    access_token_file: acme.token').replaceAll('https://private.example', 'http://10.1.2.3')}`;
  const { exit, stderr } = await apply(text, '--dry-run');
  expect(exit).toBe(0);
  expect(stderr).toMatch(/^warning: private: query_game_list_webhook: this address is refused: /m);
  expect(stderr.match(/is refused/g)).toHaveLength(3);
});
