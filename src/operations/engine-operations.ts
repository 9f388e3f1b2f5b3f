/** Operations that a worker's engines run in their own transactions, each as the last statement. */
import type { Queryable } from '#db/client.ts';
import type { Receiver } from '#db/queries/receivers.ts';
import { switchEventsOff } from '#src/operations/events.ts';
import { pauseFailingApplication, resumeRecoveredApplication } from '#src/operations/failing-applications.ts';
import { operateWithin } from '#src/operations/operate.ts';

export const engineOperations = {
  pauseFailing: (tx: Queryable, application_id: string, reason: string) =>
    operateWithin(tx, pauseFailingApplication, { application_id, reason }),
  resumeRecovered: (tx: Queryable, application_id: string) =>
    operateWithin(tx, resumeRecoveredApplication, { application_id }),
  /** @returns whether it was switched off */
  switchEventsOff: (tx: Queryable, address: Receiver & { url: string }, reason: string) =>
    operateWithin(tx, switchEventsOff, { ...address, reason }),
};
