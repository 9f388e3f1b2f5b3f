import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { takeScreenshot, takesScreenshots, WIDTHS } from '#test/support/screenshots.ts';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = { id: string; help: string; nodes: { html: string }[] };

/** The rules of axe-core whose result depends on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** What axe-core finds at the page's present width. @param rules absent: all */
export const findViolations = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    // The policy of the page refuses inline scripts; this one is the test's.
    const session = await page.context().newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: AXE });
    await session.detach();
  }
  const options = { resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) };
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as {
    violations: Violation[];
  };
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html}`);
};

/**
 * The page is wider than its window, a table than its card, a word of ours or a time is divided for want of room, or a
 * panel begins where no scrolling leads.
 */
const FIND_OVERFLOW = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const page = scrollWidth > clientWidth
    ? ['the page is ' + (scrollWidth - clientWidth) + ' pixels wider than the window'] : [];
  const tables = [...document.querySelectorAll('.scroll:not(details *)')]
    .filter((table) => table.scrollWidth > table.clientWidth)
    .map((table) => 'the table ' + table.ariaLabel + ' is wider than its card');
  const words = [...document.querySelectorAll('dt, th, td, h2, label, .button, .badge')].flatMap((label) => {
    const texts = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
    const divided = [];
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      if (label.matches('td') && !/^\\s*\\d+ (s|min|h|d)( ago)?\\s*$/.test(text.data)) continue;
      for (const { index, 0: word } of text.data.matchAll(/[\\w']+/g)) {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) divided.push('the word ' + word + ' is divided');
      }
    }
    return divided;
  });
  const panels = [...document.querySelectorAll('details[open] .panel-over')]
    .map((panel) => panel.getBoundingClientRect())
    .filter(({ left, top }) => left < 0 || top + scrollY < 0)
    .map(() => 'a panel begins outside the page');
  return [...page, ...tables, ...words, ...panels];
})()`;

/** What does not fit into the page's present width. */
export const findOverflow = (page: Page): Promise<string[]> => page.evaluate<string[]>(FIND_OVERFLOW);

/** axe-core finds the same at each width; here most columns and cards are shown. */
const AXE_WIDTH = 1_280;
/** The narrowest phones, 1,280 pixels at 200 %, and the widths of the screenshots. */
const OVERFLOW_WIDTHS = [375, 640, ...WIDTHS];
const HEIGHT = 900;

/** What does not fit in letters of this size, which the browser's settings choose: 16 pixels by default. */
const findOverflowAt = async (page: Page, standard: number): Promise<string[]> => {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Page.setFontSizes', { fontSizes: { standard } });
    return await findOverflow(page);
  } finally {
    await session.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
    await session.detach();
  }
};

/**
 * Looks at a page in both colour schemes: axe-core once in each, overflow at every width, with large letters and in
 * print. The page keeps the scheme light and a width of 1,280 pixels. Its context must have `reducedMotion`: while a
 * colour changes, its contrast is that of neither scheme.
 * @returns the problems, each with how it was shown, and the width
 */
export const inspectPage = async (page: Page, name: string): Promise<string[]> => {
  const problems: string[] = [];
  const look = async (how: string, width: number, find: (page: Page) => Promise<string[]>) => {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const problem of await find(page)) problems.push(`${name}, ${how}, ${width}: ${problem}`);
  };
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    if (takesScreenshots)
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        await takeScreenshot(page, scheme, name);
      }
    // The layout is the same in both schemes.
    if (scheme === 'light') {
      for (const width of OVERFLOW_WIDTHS) await look(scheme, width, findOverflow);
      await look('letters of 32 pixels', AXE_WIDTH, (each) => findOverflowAt(each, 32));
      await page.emulateMedia({ media: 'print' });
      await look('print', AXE_WIDTH, findOverflow);
      await page.emulateMedia({ media: 'screen' });
    }
    await look(scheme, AXE_WIDTH, (each) =>
      findViolations(each, scheme === 'dark' ? COLOUR_RULES : undefined),
    );
  }
  return problems;
};
