import { randomBytes } from 'node:crypto';

/** From sign-in; use does not extend a session. */
export const SESSION_MS = 12 * 60 * 60_000;

/** Beyond it, the oldest session ends. */
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
  // The order of insertion is the order of expiry.
  const expiries = new Map<string, number>();

  const dropOldest = (): void => {
    for (const [id, expiry] of expiries) {
      if (expiry > now() && expiries.size < MAX_SESSIONS) return;
      expiries.delete(id);
    }
  };

  return {
    open() {
      dropOldest();
      const id = randomBytes(32).toString('base64url');
      expiries.set(id, now() + SESSION_MS);
      return id;
    },
    isOpen: (id) => id !== undefined && (expiries.get(id) ?? 0) > now(),
    close(id) {
      if (id !== undefined) expiries.delete(id);
    },
  };
};
