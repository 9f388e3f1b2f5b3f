import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { upsertGames } from '#db/queries/games.ts';
import { DATABASE_ROLES, type DatabaseRole } from '#db/roles.ts';
import { useStolenLogins } from '#test/privilege/support.ts';
import { addApplication, fetchedGame } from '#test/support/factories.ts';
import { decideGame } from '#test/support/operate.ts';

const { database, attempt } = useStolenLogins();

const decided = "audit_status = 'rejected', audit_time = now()";
const ask = (kind: string) => `
  insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at)
  values (gen_random_uuid(), '${kind}', 'application:acme', '1', 'why', 'kim', now())`;

/** Each of these is in docs/security.md with the roles that may do it. */
const STATEMENTS: Record<string, string> = {
  'decide on a game': `update games set ${decided}`,
  'decide by `insert … on conflict`': `insert into games select * from games on conflict (game_id) do update set ${decided}`,
  'decide by `merge`': `merge into games using (select) one on true when matched then update set ${decided}`,
  'write a decision':
    "insert into game_audits (game_id, revision, audit_status, decided_by) select game_id, 1, 'passed', 'kim' from games",
  'change the content of a passed game': "update games set game_name = 'FREE CASINO'",
  'set an installation package': "update games set game_package_url = 'https://evil.example/x.apk'",
  'read a sealed KYC record': 'select legal_entity from kyc_records',
  'read a sealed access token': 'select access_token from applications',
  'read a sealed secret of events': 'select secret from event_webhooks',
  'read the hash of a password': 'select password_hash from operators',
  'request a reveal': ask('reveal'),
  'request to accept withdrawals': ask('withdrawals'),
  'add an administrator': "insert into operators (login, name, roles) values ('evil', 'e', '{admin}')",
  'give a role': "update operators set roles = '{admin}'",
  'open a session of the console':
    "insert into operator_sessions (session_hash, login, site) values ('\\x01', 'kim', 'console')",
  'open a session of the KYC desk':
    "insert into operator_sessions (session_hash, login, site) values ('\\x02', 'kim', 'kyc_desk')",
  'write an API token':
    "insert into api_tokens (token_id, application_id, name, token_hash) values (gen_random_uuid(), 'acme', 'x', decode(repeat('00', 32), 'hex'))",
  'write a token of an operator':
    "insert into api_tokens (token_id, login, roles, name, token_hash) values (gen_random_uuid(), 'kim', '{admin}', 'x', decode(repeat('00', 32), 'hex'))",
  'change a webhook': "update applications set query_cp_kyc_webhook = 'https://evil.example'",
  'send the events of an application to a new origin':
    "insert into event_webhooks (application_id, url, secret, secret_keys) values ('acme', 'https://evil.example', '\\x00', '[]')",
  'remove an application': "update applications set status = 'removed'",
  'write an event':
    "insert into events (event_id, application_id, type, game_id, data) select gen_random_uuid(), 'acme', 'game.passed', game_id, '{}' from games",
  'change or delete an entry of the audit log': "update audit_log set actor = 'nobody'",
};

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme');
  const game = fetchedGame();
  await upsertGames(sql, 'acme', [game]);
  await decideGame(sql, { game_id: game.game_id, audit_status: 'passed' });
  await sql`insert into operators (login, name, roles) values ('kim', 'Kim', '{kyc_officer}')`;
});

const whoMay = async (statement: string): Promise<DatabaseRole[]> => {
  const found: DatabaseRole[] = [];
  for (const role of DATABASE_ROLES)
    if ((await attempt(role, statement, false)) !== 'refused') found.push(role);
  return found;
};

it('each role may do what docs/security.md says of it, and nothing else of the list', async () => {
  const text = await readFile('docs/security.md', 'utf8');
  const found = new Map<string, string>();
  for (const [what, statement] of Object.entries(STATEMENTS))
    found.set(what, (await whoMay(statement)).join(', ') || 'none');
  const documented = [...text.matchAll(/^\| ((?:[a-z_]+(?:, )?)+) \| (.+) \|$/gm)]
    .flatMap(([, roles = '', statements = '']) =>
      statements.split('; ').map((what) => [what, roles] as const),
    )
    .filter(([what]) => what in STATEMENTS);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(documented));
});
