import type { Database } from '#db/client.ts';
import type { Sources } from '#src/lists/read.ts';
import type { Producer } from '#src/queue/producer.ts';

/** Returns what the lists of a site are read from. The KYC desk has no queues. */
export const sourcesOf = ({ sql, producer }: { sql: Database; producer?: Producer }): Sources => ({
  sql,
  producer: async () => {
    if (producer === undefined) throw new Error('this process has no queues');
    return producer;
  },
});
