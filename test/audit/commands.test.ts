import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { type AuditRow, listAudit, recordAudit } from '#db/queries/audit.ts';
import { recordFailures } from '#db/queries/failures.ts';
import { verifyAudit } from '#db/verify-audit.ts';
import { AUDIT_SUBJECTS } from '#src/contract/audit.ts';
import { documentOf, runCli } from '#test/support/cli.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import { asOperator } from '#test/support/roles.ts';
import { everyRow } from '#test/support/stored.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();

const SECRET = 'token-that-must-not-be-logged-5d1c';

test('each command that changes something writes one entry, and a refused command none; no token is in the log', async () => {
  const { sql, databaseUrl } = database;
  const env = {
    ...asOperator(databaseUrl),
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    ACME_TOKEN: SECRET,
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
  };
  const run = async (...args: string[]) => {
    const result = await runCli([...args, '--json'], env);
    expect(result.exit, result.stderr).toBe(0);
    return documentOf(result);
  };
  const webhook = (name: string) => `http://127.0.0.1:9/${name}?key=${SECRET}`;
  await run(
    'app',
    'add',
    'acme',
    '--name',
    'Acme',
    '--access-token-env',
    'ACME_TOKEN',
    '--query-game-list-webhook',
    webhook('list'),
    '--query-game-detail-webhook',
    webhook('detail'),
    '--query-cp-kyc-webhook',
    webhook('kyc'),
  );
  await run('app', 'update', 'acme', '--rate', '20', '--access-token-env', 'ACME_TOKEN');
  await run('app', 'pause', 'acme');
  await run('app', 'resume', 'acme');
  const { token_id } = await run('token', 'create', '--application', 'acme');
  await run('token', 'revoke', token_id);
  await run('queue', 'pause', 'tick');
  await run('queue', 'resume', 'tick');
  await run('queue', 'retry-failed', 'tick');
  const { runs } = await run('sync', 'acme');
  expect((await runCli(['sync', 'acme'], env)).exit).toBe(4);
  const run_id = runs[0].run_id;
  await run('run', 'cancel', run_id);
  await run('pull', 'acme', 'g-2', 'g-1', 'g-2');
  await run('failure', 'retry', 'acme');
  await recordFailures(sql, 'acme', 'query_game_detail', [
    { application_game_id: 'g-3', kind: 'timeout', reasons: [] },
  ]);
  await run('failure', 'retry', 'acme');
  await run('kyc', 'pull', 'acme');
  const rotated = {
    ...env,
    ENCRYPTION_KEYS: `k2:${Buffer.alloc(32, 8).toString('base64')},${env.ENCRYPTION_KEYS}`,
  };
  for (let again = 0; again < 2; again += 1)
    expect((await runCli(['kyc', 'reseal', '--json'], rotated)).exit).toBe(0);
  expect((await runCli(['app', 'pause', 'absent'], env)).exit).toBe(2);
  await run('app', 'remove', 'acme');

  const rows = (await listAudit(sql, { limit: 100 })).reverse();
  for (const { subject } of rows) expect(AUDIT_SUBJECTS).toContain(subject.split(':')[0]);
  expect(rows.map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    'application.add application:acme',
    'application.update application:acme',
    'application.pause application:acme',
    'application.resume application:acme',
    `token.create token:${token_id}`,
    `token.revoke token:${token_id}`,
    'queue.pause queue:tick',
    'queue.resume queue:tick',
    'queue.retry_failed queue:tick',
    'run.start application:acme',
    `run.cancel run:${run_id}`,
    'game.pull application:acme',
    'failure.retry application:acme',
    'kyc.pull application:acme',
    'kyc.reseal key:k2',
    'application.remove application:acme',
  ]);
  expect(rows[1]?.details).toEqual({ rate: 20, access_token: 'changed', former: { rate: 50 } });
  const detailsOf = (action: string) => rows.find((row) => row.action === action)?.details;
  expect(detailsOf('run.start')).toEqual({ run_id, full: false, accept_withdrawals: false });
  expect(detailsOf('game.pull')).toEqual({ games: 2, application_game_ids: ['g-1', 'g-2'] });
  expect(detailsOf('failure.retry')).toEqual({ games: 1 });
  expect(detailsOf('kyc.reseal')).toEqual({ data_keys: 1 });
  const { username } = userInfo();
  const who: Partial<AuditRow> = { actor: username, actor_kind: 'command_line', os_user: username };
  for (const row of rows) expect(row).toMatchObject(who);
  expect((await everyRow(sql)).audit_log?.join('\n')).not.toContain(SECRET);
  expect((await verifyAudit(sql)).broken).toBeNull();
});

test('in the image, whose system user is no person, a command that changes something says who runs it', async () => {
  const { sql, databaseUrl } = database;
  await addApplication(sql, 'named');
  const [, ofImage = ''] = /\bCATALOGUE_OPERATOR=(\S+)/.exec(await readFile('Dockerfile', 'utf8')) ?? [];
  const inImage = (CATALOGUE_OPERATOR: string, ...args: string[]) =>
    runCli(args, { ...asOperator(databaseUrl), CATALOGUE_OPERATOR });
  const refused = await inImage(ofImage, 'app', 'pause', 'named');
  expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('CATALOGUE_OPERATOR=') });
  const entries = async () =>
    (await listAudit(sql, { subject: 'application:named', limit: 9 })).map(({ actor, os_user, action }) => ({
      actor,
      os_user,
      action,
    }));
  expect(await entries()).toEqual([]);
  expect((await inImage(ofImage, 'app', 'list')).exit).toBe(0);
  expect((await inImage('mia', 'app', 'pause', 'named')).exit).toBe(0);
  expect((await inImage('mia', 'app', 'resume', 'named')).exit).toBe(0);
  const who = { actor: 'mia', os_user: userInfo().username };
  expect(await entries()).toEqual([
    { ...who, action: 'application.resume' },
    { ...who, action: 'application.pause' },
  ]);
  const { run_id } = await anOpenRun(sql, 'named');
  expect((await inImage(ofImage, 'run', 'cancel', run_id, '--by', 'lee')).exit).toBe(0);
  expect(await listAudit(sql, { subject: `run:${run_id}`, limit: 9 })).toMatchObject([{ actor: 'lee' }]);
});

test('audit list continues where its last line says, and refuses a subject or a time that no entry has', async () => {
  const { sql, databaseUrl } = database;
  const env = asOperator(databaseUrl);
  const actor = { actor: 'kim', actor_kind: 'operator' } as const;
  for (const subject of ['operator:a', 'operator:b', 'operator:c'])
    await recordAudit(sql, [{ ...actor, action: 'operator.link', subject }]);
  const list = ['audit', 'list', '--actor', 'kim', '--since', '24h', '--limit', '2'];
  const first = documentOf(await runCli([...list, '--json'], env));
  const subjects = (document: { entries: AuditRow[] }) => document.entries.map(({ subject }) => subject);
  expect(subjects(first)).toEqual(['operator:c', 'operator:b']);
  expect(first.total).toBe(3);
  const { stdout } = await runCli(list, env);
  expect(stdout).toContain(`2 of 3, next: npx catalogue ${list.join(' ')} --cursor ${first.next_cursor}`);
  const rest = documentOf(await runCli([...list, '--cursor', first.next_cursor, '--json'], env));
  expect(subjects(rest)).toEqual(['operator:a']);
  expect(rest).not.toHaveProperty('next_cursor');
  for (const wrong of [
    ['--subject', 'foo'],
    ['--subject', 'app:acme'],
    ['--since', '7'],
    ['--until', '2026-02-30'],
  ])
    expect(await runCli(['audit', 'list', ...wrong], env)).toMatchObject({ exit: 2 });
});
