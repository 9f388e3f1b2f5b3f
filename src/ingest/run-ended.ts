import type { RunRow } from '#db/queries/runs.ts';
import { defineChannel } from '#src/lib/channel.ts';

/** Publishes each run that finish-run.ts closed in this process, after the commit: logs and metrics subscribe. */
export const runEnded = defineChannel<RunRow>('catalogue.run-ended');
