/** Roles of operators, and what each may do. docs/reference.md shows them; a test walks every route with every role. */

export const ROLES = ['viewer', 'reviewer', 'kyc_officer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The sites that operators sign in to. A session belongs to one of them. */
export const SITES = ['console', 'kyc_desk'] as const;
export type Site = (typeof SITES)[number];

export const OPERATOR_STATUSES = ['active', 'disabled'] as const;

/** The roles that have each right. */
export const RIGHTS = {
  /** See games, applications, runs, failures, reasons and queues. */
  view: ['viewer', 'reviewer', 'kyc_officer', 'admin'],
  /** Pass, reject, undo, set the package URL. */
  decide: ['reviewer'],
  /** Accept the withdrawals of a suspect run. */
  accept_withdrawals: ['reviewer', 'admin'],
  /** Be the second person for it. */
  approve_withdrawals: ['reviewer'],
  /** Add, change, pause, resume, check and sync applications; retry failures. */
  manage_applications: ['admin'],
  /** Hold the games of an application back from group A, and release them. */
  hold_applications: ['reviewer', 'admin'],
  /** Change queues and jobs in Bull Board. */
  manage_queues: ['admin'],
  manage_operators: ['admin'],
  manage_reasons: ['admin'],
  read_audit: ['admin'],
  /** Use the KYC desk: reveal, erase and decide on records. `src/contract/approvals.ts` has what takes a second person. */
  kyc: ['kyc_officer'],
} as const satisfies Record<string, readonly Role[]>;
export type Right = keyof typeof RIGHTS;

/** Does one of these roles have the right? */
export const hasRight = (roles: readonly Role[], right: Right): boolean =>
  roles.some((role) => (RIGHTS[right] as readonly Role[]).includes(role));

/** The roles of an operator as words: `reviewer, kyc officer`. */
export const listRoles = (roles: readonly Role[]): string =>
  roles.join(', ').replaceAll('_', ' ') || 'no role';

/** Roles as words: `reviewer or kyc officer`. */
export const namesOfRoles = (roles: readonly Role[]): string => roles.join(' or ').replaceAll('_', ' ');
