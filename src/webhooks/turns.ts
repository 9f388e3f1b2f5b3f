import { setImmediate as nextTurn } from 'node:timers/promises';
import { EVENT_LOOP_TURN_MS } from '#src/rules/budgets.ts';

/** When this turn of the event loop began to work on responses. Module state, because a process has one event loop. */
let startedAt: number | undefined;

/** Has the work on responses taken its share of this turn of the event loop? */
export const isTurnSpent = (): boolean =>
  startedAt !== undefined && performance.now() - startedAt >= EVENT_LOOP_TURN_MS;

/**
 * Resolves when work on a response may begin: at once, or in a later turn of the event loop when this turn's work has
 * taken `EVENT_LOOP_TURN_MS`. Responses that arrive together are therefore processed one after another, with turns in between for
 * timers, the renewal of job locks, and health probes.
 */
export const takeEventLoopTurn = async (): Promise<void> => {
  while (isTurnSpent()) await nextTurn();
  if (startedAt !== undefined) return;
  startedAt = performance.now();
  setImmediate(() => {
    startedAt = undefined;
  });
};
