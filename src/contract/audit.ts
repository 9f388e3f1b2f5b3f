/** The words of the audit log. An action is `<subject>.<verb>`; add yours here, and a new kind of subject below. */

/** What kind of name `actor` is: a signed-in operator, a name claimed on the command line, an application, ourselves. */
export const ACTOR_KINDS = ['operator', 'command_line', 'application', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/**
 * Describes the kind of an actor. Lists show it beside every name that is not a signed-in operator's.
 * @returns null for an operator
 */
export const describeActorKind = (entry: {
  actor_kind: ActorKind;
  os_user: string | null;
}): string | null => {
  if (entry.actor_kind === 'operator') return null;
  const kind = entry.actor_kind.replace('_', ' ');
  return entry.os_user === null ? kind : `${kind}, user ${entry.os_user}`;
};

export const AUDIT_ACTIONS = [
  'application.add',
  'application.update',
  'application.pause',
  'application.resume',
  'application.remove',
  'application.hold',
  'application.release',
  'application.check',
  'event_webhook.set',
  'event_webhook.remove',
  'event_webhook.on',
  'event_webhook.off',
  'event_secret.rotate',
  'event_secret.rotate_subscription',
  'event.retry',
  'event.test',
  'event.subscribe',
  'event.unsubscribe',
  'event.resume',
  'run.start',
  'run.cancel',
  'run.accept_withdrawals',
  'game.pull',
  'game.pass',
  'game.reject',
  'game.undo',
  'game.note',
  'game.message',
  'game.appeal',
  'game.uphold',
  'game.overturn',
  'game.carry_over',
  'game.reopen',
  'game.package',
  'game.import',
  'picture.repair',
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
  'kyc.verdict',
  'kyc.reseal',
  'kyc.expire',
  'approval.request',
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
  'operator.single_keys',
  'session.sign_in',
  'session.sign_out',
  'session.end',
  'session.refuse',
  'access.refuse',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Operations whose entries have the action of another one, because to a reader of the log, the same happened. */
const SHARED_ACTIONS = {
  'application.pause_failing': 'application.pause',
  'application.resume_failing': 'application.resume',
  'application.resume_recovered': 'application.resume',
  'run.start_accepting': 'run.accept_withdrawals',
  'token.revoke_own': 'token.revoke',
  'kyc.expire_removed': 'kyc.expire',
} as const satisfies Record<string, AuditAction>;

/** An operation's name: its action in the audit log, or a key of `SHARED_ACTIONS`. */
export type OperationName = AuditAction | keyof typeof SHARED_ACTIONS;

const isShared = (name: OperationName): name is keyof typeof SHARED_ACTIONS => name in SHARED_ACTIONS;

export const actionOf = (name: OperationName): AuditAction => (isShared(name) ? SHARED_ACTIONS[name] : name);

/** The most ids that the details of one entry name. */
export const LOGGED_IDS_MAX = 100;

/** The kinds of what an entry is about. Its subject is `<kind>:<id>`. */
export const AUDIT_SUBJECTS = [
  'application',
  'game',
  'key',
  'operator',
  'page',
  'picture',
  'queue',
  'reason',
  'run',
  'subscription',
  'token',
] as const;
