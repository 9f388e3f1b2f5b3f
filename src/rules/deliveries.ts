import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#src/lib/duration.ts';

/**
 * How often an event is sent (Standard Webhooks, "Deliverability and reliability"): for 24 hours, with growing waits.
 * An address that fails is probed with one event at a time, and switched off after three days.
 */

/** Waits after the first, second, … attempt: nearly 24 hours in all. The attempt after them is made at 24 hours. */
const WAITS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  6 * HOUR_MS,
  10 * HOUR_MS,
] as const;

export const DELIVERY = {
  /** Attempts end after this time. */
  lifetimeMs: 24 * HOUR_MS,
  /** The longest wait before an address that fails is probed again, so that a repaired receiver soon receives its events. */
  probeMaxMs: 15 * MINUTE_MS,
  /** An address without a success for this time is switched off. */
  offAfterMs: 72 * HOUR_MS,
  /** A failure that comes later than this after the last attempt begins a new count. */
  silenceMs: 25 * HOUR_MS,
} as const;

/**
 * The wait before the next attempt, at most until the lifetime ends.
 * @param attempts made so far, at least 1
 * @param ageMs since the event was to be delivered
 * @param retryAfterMs what the receiver requests
 * @param random from 0 to 1: attempts of events that began together spread by a tenth
 * @returns undefined when the attempts end
 */
export const nextDeliveryMs = (
  {
    attempts,
    ageMs,
    retryAfterMs = 0,
  }: { attempts: number; ageMs: number; retryAfterMs?: number | undefined },
  random: number,
): number | undefined => {
  const leftMs = DELIVERY.lifetimeMs - ageMs;
  if (leftMs <= 0) return undefined;
  const waitMs = (WAITS_MS[attempts - 1] ?? DELIVERY.lifetimeMs) * (0.95 + random / 10);
  return Math.ceil(Math.min(Math.max(waitMs, retryAfterMs), leftMs));
};

/** Returns the wait before an address is probed again, after this many failures in a row. */
export const probeMs = (failures: number): number =>
  Math.min(WAITS_MS[0] * 2 ** (failures - 1), DELIVERY.probeMaxMs);
