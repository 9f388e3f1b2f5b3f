import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;
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
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs / 1_000} s: ${what}`);
    await delay(POLL_MS);
  }
};
