import { setTimeout as delay } from 'node:timers/promises';

/** Between the first two questions, and between later ones: what comes soon is seen soon, and a long wait costs little. */
const POLL_MS = { first: 10, max: 50 };
/** Only a test that hangs waits this long. */
const WITHIN_MS = 240_000;

/**
 * Polls until the answer is there. @returns the first answer that is not undefined or false
 * @throws after four minutes (or `withinMs`), with the words of what was waited for
 */
export const until = async <Answer>(
  what: string,
  ask: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  withinMs = WITHIN_MS,
): Promise<Answer> => {
  const deadline = Date.now() + withinMs;
  for (let pollMs = POLL_MS.first; ; pollMs = Math.min(pollMs * 1.2, POLL_MS.max)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await delay(pollMs);
  }
};
