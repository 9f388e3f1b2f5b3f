import { describe, test } from 'vitest';
import { everyPage, usePages } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('every page', () => {
  const visitEveryPage = usePages(everyPage);

  test('in light at 375 and 768 pixels: axe-core finds nothing, nothing is wider than the window, no error, no request leaves', async () => {
    await visitEveryPage('light', [375, 768]);
  }, 300_000);
});
