/** The words of the audit log. An action is `<subject>.<verb>`; add yours here, and a new kind of subject below. */

/** What kind of name `actor` is: a signed-in operator, a name claimed on the command line, an application, ourselves. */
export const ACTOR_KINDS = ['operator', 'command_line', 'application', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export const AUDIT_ACTIONS = [
  'application.add',
  'application.update',
  'application.pause',
  'application.resume',
  'application.resume_failing',
  'application.remove',
  'application.check',
  'event_webhook.set',
  'event_webhook.remove',
  'event_webhook.on',
  'event_webhook.off',
  'event_secret.rotate',
  'event.retry',
  'run.start',
  'run.cancel',
  'run.accept_withdrawals',
  'game.pull',
  'game.pass',
  'game.reject',
  'game.undo',
  'game.carry_over',
  'game.package',
  'batch.decide',
  'batch.undo',
  'reason.add',
  'reason.retire',
  'failure.retry',
  'queue.pause',
  'queue.resume',
  'queue.retry_failed',
  'queue.action',
  'token.create',
  'token.revoke',
  'kyc.pull',
  'kyc.reveal',
  'kyc.erase',
  'kyc.accept_cp_id',
  'kyc.reseal',
  'kyc.expire',
  'approval.ask',
  'approval.approve',
  'approval.use',
  'approval.cancel',
  'approval.decline',
  'approval.void',
  'approval.refuse',
  'operator.add',
  'operator.roles',
  'operator.disable',
  'operator.enable',
  'operator.sign_out',
  'operator.link',
  'operator.password',
  'session.sign_in',
  'session.sign_out',
  'session.end',
  'session.refuse',
  'access.refuse',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Ids that the details of one entry name, at most. */
export const LOGGED_IDS_MAX = 100;

/** What an entry is about: its subject is `<kind>:<id>`. */
export const AUDIT_SUBJECTS = [
  'application',
  'game',
  'key',
  'operator',
  'page',
  'queue',
  'reason',
  'run',
  'token',
] as const;
