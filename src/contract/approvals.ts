/** Acts that take two persons: one requests, another approves. docs/kyc.md shows the rule. */
import type { Right } from '#src/contract/roles.ts';

/** Kinds of acts that take two persons if `FOUR_EYES` names them. */
export const FOUR_EYES_KINDS = ['reveal', 'erase', 'cp-id', 'verdict', 'withdrawals'] as const;
/**
 * Making a KYC officer always takes two persons. Making a reviewer takes two if accepting withdrawals takes two. Otherwise
 * one operator could create the second person.
 */
export const OPERATOR_KINDS = ['officer', 'reviewer'] as const;
export const APPROVAL_KINDS = [...FOUR_EYES_KINDS, ...OPERATOR_KINDS] as const;
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

/** The kinds that officers request at the KYC desk. `withdrawals` belongs to the console. */
export const KYC_APPROVAL_KINDS = [
  'verdict',
  'reveal',
  'erase',
  'cp-id',
] as const satisfies readonly ApprovalKind[];

/** Who may request, and who may approve. */
export const APPROVAL_RIGHTS = {
  reveal: { request: 'kyc', approve: 'kyc' },
  erase: { request: 'kyc', approve: 'kyc' },
  'cp-id': { request: 'kyc', approve: 'kyc' },
  withdrawals: { request: 'accept_withdrawals', approve: 'approve_withdrawals' },
  officer: { request: 'manage_operators', approve: 'kyc' },
  verdict: { request: 'kyc', approve: 'kyc' },
  reviewer: { request: 'manage_operators', approve: 'approve_withdrawals' },
} as const satisfies Record<ApprovalKind, { request: Right; approve: Right }>;

/** What each kind does, as the end of a sentence. */
export const APPROVAL_ACTIONS = {
  reveal: 'reveal a KYC record',
  erase: 'erase a KYC record',
  'cp-id': 'accept a new cp_id',
  withdrawals: 'accept the withdrawals of a suspect run',
  officer: 'make somebody a KYC officer, or open the sign-in of one',
  verdict: 'give a verdict on a developer',
  reviewer: 'make somebody a reviewer, or open the sign-in of one',
} as const satisfies Record<ApprovalKind, string>;

/** How a request ends without being used. */
export const APPROVAL_CLOSINGS = ['cancelled', 'declined', 'expired', 'void'] as const;
export type ApprovalClosing = (typeof APPROVAL_CLOSINGS)[number];
export const APPROVAL_STATES = ['requested', 'approved', 'used', ...APPROVAL_CLOSINGS] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** A request waits this long for its approval. */
export const APPROVE_WITHIN_MINUTES = 60;
/** An approved request is used within this time. */
export const USE_WITHIN_MINUTES = 15;

/** The setting `FOUR_EYES`. */
export type FourEyes = {
  kinds: readonly (typeof FOUR_EYES_KINDS)[number][];
  /** The rule begins once two operators could follow it. */
  onceTwo: boolean;
};

export const FOUR_EYES_BY_DEFAULT: FourEyes = { kinds: FOUR_EYES_KINDS, onceTwo: true };
