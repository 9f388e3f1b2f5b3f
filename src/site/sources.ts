import type { Sources } from '#src/lists/read.ts';
import type { SiteOptions } from '#src/site/options.ts';

/** What the lists of a site read. */
export const sourcesOf = ({ sql, producer }: Pick<SiteOptions, 'sql' | 'producer'>): Sources => ({
  sql,
  producer: async () => producer,
});
