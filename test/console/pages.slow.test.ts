import { describe, test } from 'vitest';
import { everyPage, usePages } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('every page', () => {
  const visitEveryPage = usePages(everyPage);

  // Fifty looks at a page, of which a busy machine makes one in eight seconds.
  test('in light and dark, at every width: axe-core finds nothing, nothing is wider than the window, no error, no request leaves', {
    timeout: 900_000,
  }, async () => {
    await visitEveryPage();
  });
});
