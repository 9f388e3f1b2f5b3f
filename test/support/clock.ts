import { openTrustedClock } from '#src/queue/trusted-clock.ts';

/** The clock of this machine, for tests whose server runs on it. */
export const localClock = await openTrustedClock(async () => new Date());
