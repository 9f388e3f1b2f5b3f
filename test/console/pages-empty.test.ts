import { describe, test } from 'vitest';
import { emptyPages, usePages } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('the pages of a console without games', () => {
  const visitEmptyPages = usePages(emptyPages);

  test('in light and dark, at every width: axe-core finds nothing, nothing is wider than the window, no error, no request leaves', async () => {
    await visitEmptyPages();
  });
});
