import type { DatabaseRole } from '#db/roles.ts';

const decided = "audit_status = 'rejected', audit_time = now()";
const request = (kind: string, subject = 'application:acme') => `
  insert into approvals (approval_id, kind, subject, version, reason, requested_by, expires_at)
  values (gen_random_uuid(), '${kind}', '${subject}', '1', 'why', 'kim', now())`;

/** A statement of an attacker, and the database roles that may run it. */
export type Attack = { what: string; statement: string; allowed: readonly DatabaseRole[] };

/** What an attacker would try. docs/reference.md shows these; test/privilege/matrix.test.ts tries each as each role. */
export const ATTACKS: readonly Attack[] = [
  {
    what: 'decide on a game',
    statement: `update games set ${decided}`,
    allowed: ['console', 'operator', 'operator_api'],
  },
  {
    what: 'decide by `insert … on conflict`',
    statement: `insert into games select * from games on conflict (game_id) do update set ${decided}`,
    allowed: [],
  },
  {
    what: 'decide by `merge`',
    statement: `merge into games using (select) one on true when matched then update set ${decided}`,
    allowed: ['console', 'operator', 'operator_api'],
  },
  {
    what: 'write a decision',
    statement:
      "insert into game_audits (game_id, revision, audit_status, decided_by) select game_id, 1, 'passed', 'kim' from games",
    allowed: ['console', 'operator', 'operator_api'],
  },
  {
    what: 'change the content of a passed game',
    statement: "update games set game_name = 'FREE CASINO'",
    allowed: [],
  },
  {
    what: 'set an installation package',
    statement: "update games set game_package_url = 'https://evil.example/x.apk'",
    allowed: ['console', 'operator', 'operator_api'],
  },
  {
    what: 'read a sealed KYC record',
    statement: 'select legal_entity from kyc_records',
    allowed: ['worker', 'kyc_desk', 'operator'],
  },
  {
    what: 'read a sealed access token',
    statement: 'select access_token from applications',
    allowed: ['worker', 'console', 'operator', 'operator_api'],
  },
  {
    what: 'read a sealed secret of events',
    statement: 'select secret from event_webhooks',
    allowed: ['worker', 'operator', 'operator_api'],
  },
  {
    what: 'read the hash of a password',
    statement: 'select password_hash from operators',
    allowed: ['console', 'kyc_desk', 'operator'],
  },
  {
    what: 'request a reveal',
    statement: request('reveal'),
    allowed: ['kyc_desk'],
  },
  {
    what: 'request to accept withdrawals',
    statement: request('withdrawals', 'run:00000000-0000-7000-8000-000000000001'),
    allowed: ['console', 'operator_api'],
  },
  {
    what: 'add an administrator',
    statement: "insert into operators (login, name, roles) values ('evil', 'e', '{admin}')",
    allowed: ['console', 'operator'],
  },
  {
    what: 'give a role',
    statement: "update operators set roles = '{admin}'",
    allowed: ['console', 'operator'],
  },
  {
    what: 'open a session of the console',
    statement: "insert into operator_sessions (session_hash, login, site) values ('\\x01', 'kim', 'console')",
    allowed: ['console'],
  },
  {
    what: 'open a session of the KYC desk',
    statement:
      "insert into operator_sessions (session_hash, login, site) values ('\\x02', 'kim', 'kyc_desk')",
    allowed: ['kyc_desk'],
  },
  {
    what: 'write an API token',
    statement:
      "insert into api_tokens (token_id, application_id, name, token_hash) values (gen_random_uuid(), 'acme', 'x', decode(repeat('00', 32), 'hex'))",
    allowed: ['operator', 'operator_api'],
  },
  {
    what: 'write a token of an operator',
    statement:
      "insert into api_tokens (token_id, login, roles, name, token_hash) values (gen_random_uuid(), 'kim', '{admin}', 'x', decode(repeat('00', 32), 'hex'))",
    allowed: ['operator'],
  },
  {
    what: 'change a webhook',
    statement: "update applications set query_cp_kyc_webhook = 'https://evil.example'",
    allowed: ['operator', 'operator_api'],
  },
  {
    what: 'send the events of an application to a new origin',
    statement:
      "insert into event_webhooks (application_id, url, secret, secret_keys) values ('acme', 'https://evil.example', '\\x00', '[]')",
    allowed: ['operator', 'operator_api'],
  },
  {
    what: 'remove an application',
    statement: "update applications set status = 'removed'",
    allowed: ['operator', 'operator_api'],
  },
  {
    what: 'write an event',
    statement:
      "insert into events (event_id, application_id, type, game_id, data) select gen_random_uuid(), 'acme', 'game.passed', game_id, '{}' from games",
    allowed: [],
  },
  {
    what: 'change or delete an entry of the audit log',
    statement: "update audit_log set actor = 'nobody'",
    allowed: [],
  },
];
