/** The meaning of a colour. Charts and badges use the same tone for the same word. */
export type Tone = 'good' | 'warn' | 'doubt' | 'bad' | 'info' | 'plain';

/** The tone of each word of a state. Any other word is plain. */
const WORDS: Record<Exclude<Tone, 'plain'>, readonly string[]> = {
  good: [
    'passed',
    'succeeded',
    'active',
    'sealed',
    'approved',
    'delivered',
    'in use',
    'valid',
    'verified',
    'game.passed',
  ],
  warn: [
    'partial',
    'paused',
    'failing',
    'trouble',
    'not_provided',
    'cp_id_changed',
    'declined',
    'void',
    'expired',
    'incomplete',
    'held',
    'game.withdrawn',
  ],
  doubt: ['suspect'],
  bad: ['rejected', 'failed', 'disabled', 'off', 'revoked', 'refused', 'game.rejected', 'game.appeal_upheld'],
  info: ['pending', 'open', 'changed', 'new', 'requested', 'game.pending', 'game.message'],
};
const TONES = new Map(
  Object.entries(WORDS).flatMap(([tone, words]) => words.map((word) => [word, tone as Tone] as const)),
);

/** The colour of a status. */
export const toneOf = (status: string): Tone => TONES.get(status) ?? 'plain';
