import { describe, test } from 'vitest';
import { everyPage, usePages } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('every page', () => {
  const visitEveryPage = usePages(everyPage);

  test('in light and dark, at every width: axe-core finds nothing, nothing is wider than the window, no error, no request leaves', async () => {
    await visitEveryPage();
  });
});
