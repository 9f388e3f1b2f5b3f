import { describe, test } from 'vitest';
import { emptyPages, usePages } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('the pages of a console without games', () => {
  const visitEmptyPages = usePages(emptyPages);

  test.each(['light', 'dark'] as const)(
    'in %s: axe-core finds nothing, nothing is wider than the window, no error, no request leaves',
    async (scheme) => {
      await visitEmptyPages(scheme, [390, 1_280]);
    },
    300_000,
  );
});
