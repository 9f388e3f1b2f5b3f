import type { OperationName } from '#src/contract/audit.ts';

export const ID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
const acme = { application_id: 'acme' };
const reason = 'why';
const webhooks = {
  query_game_list_webhook: 'https://acme.example/list',
  query_game_detail_webhook: 'https://acme.example/detail',
  query_cp_kyc_webhook: 'https://acme.example/kyc',
};
const request = { approval_id: ID, kind: 'withdrawals' };
const decision = { games: [{ game_id: ID, revision: 1 }] };
export type Inputs = Partial<Record<OperationName, object>>;

/** An input of each operation that passes its form. @param suspect a run */
export const inputsOf = (suspect: string): Inputs => ({
  'application.add': { application_id: 'new', name: 'New', access_token: 'token', ...webhooks },
  'application.update': { ...acme, name: 'Changed' },
  'application.pause': acme,
  'application.resume': acme,
  'application.resume_failing': {},
  'application.remove': acme,
  'application.check': acme,
  'application.pause_failing': { ...acme, reason },
  'application.resume_recovered': acme,
  'event_webhook.off': { ...acme, url: 'https://acme.example/events', reason },
  'event_secret.rotate': acme,
  'event.retry': acme,
  'event.subscribe': { url: 'https://catalogue.example/events' },
  'event.unsubscribe': { subscription_id: ID },
  'event.resume': { subscription_id: ID },
  'run.start': acme,
  'run.start_accepting': acme,
  'run.cancel': { run_id: ID },
  'run.accept_withdrawals': { run_id: suspect },
  'game.pull': { ...acme, application_game_ids: ['g-1'] },
  'game.pass': decision,
  'game.reject': { ...decision, reason: 'incomplete' },
  'game.undo': { audit_ids: [1] },
  'game.package': { urls: [{ game_id: ID, game_package_url: '' }] },
  'game.import': { ...acme, games: [{ application_game_id: 'g', audit_status: 'pending' }] },
  'game.reopen': { picture_id: ID, game_ids: [ID] },
  'picture.repair': { sha256: ['0'.repeat(64)] },
  'failure.retry': acme,
  'reason.add': { code: 'gambling', label: 'Games of chance' },
  'reason.retire': { code: 'incomplete' },
  'queue.pause': {},
  'queue.resume': {},
  'queue.retry_failed': {},
  'token.create': acme,
  'token.revoke': { token_id: ID },
  'token.revoke_own': { token_id: ID },
  'kyc.pull': acme,
  'kyc.reveal': { ...acme, reason },
  'kyc.erase': { ...acme, reason },
  'kyc.accept_cp_id': { ...acme, reason, cp_id: 'cp-other' },
  'kyc.reseal': {},
  'kyc.expire': { keep_ms: 0, limit: 9 },
  'kyc.expire_removed': { ...acme, keep_ms: 0 },
  'approval.request': { kind: 'withdrawals', subject: `run:${suspect}`, reason },
  'approval.approve': request,
  'approval.cancel': request,
  'approval.decline': request,
  'approval.void': request,
  'operator.add': { login: 'new', roles: ['kyc_officer'] },
  'operator.link': { login: 'olga' },
  'operator.roles': { login: 'vera', roles: ['kyc_officer'] },
  'operator.disable': { login: 'olga' },
  'operator.enable': { login: 'olga' },
  'operator.sign_out': { login: 'olga' },
  'operator.password': { current: 'x', password: 'y' },
  'session.end': { session_id: 'others' },
});
