import { describe, test } from 'vitest';
import { useEveryPage } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('every page', () => {
  const visitEveryPage = useEveryPage();

  test('in dark at 390 and 1280 pixels: axe-core finds nothing, nothing is wider than the window, no error, no request leaves', async () => {
    await visitEveryPage('dark', [390, 1_280]);
  }, 180_000);
});
