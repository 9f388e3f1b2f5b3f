import { describe, test } from 'vitest';
import { everyPage, usePages } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('every page', () => {
  const visitEveryPage = usePages(everyPage);

  test.each([
    [390, 768],
    [1_280, 1_600],
  ])(
    'in dark at %i and %i pixels: axe-core finds nothing, nothing is wider than the window, no error, no request leaves',
    async (...widths) => {
      await visitEveryPage('dark', widths);
    },
    300_000,
  );
});
