import { describe, test } from 'vitest';
import { useEveryPage } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser())('every page', () => {
  const visitEveryPage = useEveryPage();

  test.each([
    [390, 768],
    [1_280, 1_600],
  ])(
    'in dark at %i and %i pixels: axe-core finds nothing, nothing is wider than the window, no error, no request leaves',
    async (...widths) => {
      await visitEveryPage('dark', widths);
    },
    180_000,
  );
});
