import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Counted from sign-in: use does not extend a session. */
export const SESSION_MS = 12 * 60 * 60_000;

/** One more sign-in ends the oldest session. */
const MAX_SESSIONS = 1_000;

export type Sessions = {
  /** Starts a session. @returns its id: 256 random bits, base64url */
  open(): string;
  isOpen(id: string | undefined): boolean;
  close(id: string | undefined): void;
};

/**
 * Keeps the sessions of one board process in memory, so that signing out also ends copies of the cookie. A restart
 * ends all sessions.
 */
export const createSessions = ({ now = Date.now }: { now?: () => number } = {}): Sessions => {
  // peek() does not count as use, so the oldest session is evicted first.
  const expiries = new LRUCache<string, number>({ max: MAX_SESSIONS });
  return {
    open() {
      const id = randomBytes(32).toString('base64url');
      expiries.set(id, now() + SESSION_MS);
      return id;
    },
    isOpen: (id) => id !== undefined && (expiries.peek(id) ?? 0) > now(),
    close(id) {
      if (id !== undefined) expiries.delete(id);
    },
  };
};
