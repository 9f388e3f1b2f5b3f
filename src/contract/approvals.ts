/** What takes two persons, and what the words mean. docs/kyc.md shows the rule. */
import type { Right } from '#src/contract/roles.ts';

/** What one person asks for and another approves, as `FOUR_EYES` names it. */
export const APPROVAL_KINDS = ['reveal', 'erase', 'cp-id', 'withdrawals', 'officer'] as const;
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

/** The kinds that officers request at the KYC desk. `withdrawals` belongs to the console. */
export const KYC_APPROVAL_KINDS = ['reveal', 'erase', 'cp-id'] as const satisfies readonly ApprovalKind[];

/** The kinds that officers approve there. An administrator requests an `officer` at the console. */
export const DESK_APPROVAL_KINDS = [...KYC_APPROVAL_KINDS, 'officer'] as const;

/** Who may ask, and who may approve. */
export const APPROVAL_RIGHTS = {
  reveal: { ask: 'kyc', approve: 'kyc' },
  erase: { ask: 'kyc', approve: 'kyc' },
  'cp-id': { ask: 'kyc', approve: 'kyc' },
  withdrawals: { ask: 'accept_withdrawals', approve: 'approve_withdrawals' },
  officer: { ask: 'manage_operators', approve: 'kyc' },
} as const satisfies Record<ApprovalKind, { ask: Right; approve: Right }>;

/** What each kind does, as the end of a sentence. */
export const APPROVAL_ACTIONS = {
  reveal: 'reveal a KYC record',
  erase: 'erase a KYC record',
  'cp-id': 'accept a new cp_id',
  withdrawals: 'accept the withdrawals of a suspect run',
  officer: 'make somebody a KYC officer, or open the sign-in of one',
} as const satisfies Record<ApprovalKind, string>;

/** How a request ends without being used. */
export const APPROVAL_CLOSINGS = ['cancelled', 'declined', 'expired', 'void'] as const;
export type ApprovalClosing = (typeof APPROVAL_CLOSINGS)[number];
export type ApprovalState = 'asked' | 'approved' | 'used' | ApprovalClosing;

/** A request waits this long for its approval. */
export const APPROVE_WITHIN_MINUTES = 60;
/** An approved request is used within this time. */
export const USE_WITHIN_MINUTES = 15;

/** The setting `FOUR_EYES`. */
export type FourEyes = {
  kinds: readonly ApprovalKind[];
  /** The rule begins once two operators could follow it. */
  onceTwo: boolean;
};

export const FOUR_EYES_BY_DEFAULT: FourEyes = { kinds: APPROVAL_KINDS, onceTwo: true };
