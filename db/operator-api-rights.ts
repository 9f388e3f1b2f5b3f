export const WRITE = 'select, insert, update';
/** The columns of a request for approval that its requester writes. */
export const REQUEST = 'approval_id, kind, subject, version, requested, reason, requested_by, expires_at';
/** The columns of a game that a decision, its undo or a withdrawal writes. */
export const DECISION = 'audit_status, audit_time, game_package_url, withdrawn_at, unlisted_at, updated_at';

/** The rights of the operator API that differ from those of the command line. Null: none. */
export const OPERATOR_API: Readonly<Record<string, string | null>> = {
  // A token that acts as an operator is made on the command line alone.
  api_tokens:
    'select, insert (token_id, token_hash, application_id, name, expires_at), update (last_used_at, revoked_at)',
  application_checks: WRITE,
  // A session of a person approves.
  approvals: `select, insert (${REQUEST}), update (used_at, closed_at, closed_as)`,
  content_providers: 'select',
  // Games are imported on the command line alone.
  game_revisions: 'select',
  games: `select, update (${DECISION})`,
  imported_games: null,
  game_viewers: null,
  kyc_access_log: null,
  kyc_former_records: 'select (record_id, application_id, received_at, replaced_at, changed_fields)',
  kyc_keys: null,
  // Officers give verdicts in person.
  kyc_verdicts: 'select',
  kyc_records: 'select (record_id, application_id, cp_id, received_at, changed_fields, tax_id_fingerprint)',
  operators:
    'select (login, name, roles, held_roles, status, created_at, counts_at, last_sign_in_at, oidc_subject, has_password), update (status)',
  sign_in_links: 'select, delete',
};
