import { describe, test } from 'vitest';
import { emptyPages, mainPages, usePages } from '#test/console/every-page.ts';
import { hasBrowser } from '#test/support/browser.ts';

describe.runIf(hasBrowser()).each([
  { what: 'pages of a console without games', prepare: emptyPages },
  { what: 'pages of a reviewer', prepare: mainPages },
])('the $what', ({ prepare }) => {
  const visitPages = usePages(prepare);

  test('in light and dark, at every width: axe-core finds nothing, nothing is wider than the window, no error, no request leaves', async () => {
    await visitPages();
  });
});
