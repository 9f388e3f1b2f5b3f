import type { KeyRing } from '#src/sealing/key-provider.ts';
import type { SiteOptions } from '#src/site/options.ts';

export type DeskOptions = SiteOptions & {
  keys: KeyRing;
  /** How long a page shows a record in clear. */
  revealMs: number;
};

/** The pages and requests.css say "two minutes" too. */
export const REVEAL_MS = 120_000;
