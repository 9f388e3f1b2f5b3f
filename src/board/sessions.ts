import { randomBytes } from 'node:crypto';

/** A working day, from sign-in: a session does not grow older by being used. */
export const SESSION_MS = 12 * 60 * 60_000;

/** Nobody opens more honestly: past it the oldest session ends. */
const MAX_SESSIONS = 1_000;

export type Sessions = {
  /** Starts a session and gives its id: 256 random bits, base64url. */
  open(): string;
  isOpen(id: string | undefined): boolean;
  close(id: string | undefined): void;
};

/**
 * Sessions of one board process, by random id. They are kept here, not signed into the cookie, so that
 * signing out ends one for whoever holds a copy; a restart signs everyone out.
 */
export const createSessions = ({ now = Date.now }: { now?: () => number } = {}): Sessions => {
  // All live equally long, so the order of insertion is the order of expiry.
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
