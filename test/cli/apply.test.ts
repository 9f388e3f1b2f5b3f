// `apply`: a file says what applications and reasons should be.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { application, FILE, TOKEN, useApply } from '#test/cli/apply-home.ts';
import { runCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';
import { everyRow } from '#test/support/stored.ts';
import { openTerminal, terminalTest } from '#test/support/terminal.ts';
import { until } from '#test/support/until.ts';

const { database, home, environment, catalogue, apply } = useApply();

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
  await writeFile(join(home(), 'acme.token'), 'another-token-of-acme\n');
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

test('shows an address as it is called, however the file writes it', async () => {
  // The first two letters are Cyrillic.
  const file = FILE.replace('https://acme.example/list', 'https://\u0430\u0441me.example/list').replace(
    'https://mizu.example/list',
    '"https://mizu.example\\n.evil.example\\\\@mizu.example/list?key=1"',
  );
  const { stdout } = await apply(file, '--dry-run');
  expect(stdout).toContain(' -> "https://xn--me-6kc2e.example/list"\n');
  expect(stdout).toContain(' -> "https://mizu.example.evil.example/@mizu.example/list?…"\n');
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
    stderr: expect.stringContaining('stdin, line 3: applications.piped has no field nom (fields: name, '),
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
      env: { ...asOperator(database.databaseUrl), CATALOGUE_HOME: home(), OTHERS_TOKEN: TOKEN },
    });
    onTestFinished(terminal.close);
    const before = await everyRow(database.sql);
    await terminal.type(`catalogue apply --file ${join(home(), 'catalogue.yaml')} --prune; echo "[exit $?]"`);
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
