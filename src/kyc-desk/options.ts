import type { Producer } from '#src/queue/producer.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { SiteOptions } from '#src/site/options.ts';

export type DeskOptions = SiteOptions & {
  producer: Producer;
  keys: KeyRing;
  /** How long a page shows a record in clear. */
  revealMs: number;
};

/** Two minutes. */
export const REVEAL_MS = 120_000;
