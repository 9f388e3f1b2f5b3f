import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** The directory that `npm run screenshots` gives; undefined in other runs. */
const SCREENSHOTS = process.env.SCREENSHOTS;

export const takesScreenshots = SCREENSHOTS !== undefined;

export type Scheme = 'light' | 'dark';

/** The widths of every page, in pixels. */
export const WIDTHS = [390, 768, 1_280, 1_600] as const;

/** Stores the whole page as `<scheme>-<width>/<name>.png`, if screenshots are wanted. */
export const takeScreenshot = async (page: Page, scheme: Scheme, name: string): Promise<void> => {
  if (SCREENSHOTS === undefined) return;
  const directory = join(SCREENSHOTS, `${scheme}-${page.viewportSize()?.width}`);
  await mkdir(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
};

/** Stores what the window shows as `docs/<name>.png` has it: 1,280 by 800 pixels. */
export const takeDocsPicture = async (page: Page, name: string): Promise<void> => {
  if (SCREENSHOTS === undefined) return;
  await page.setViewportSize({ width: 1_280, height: 800 });
  await page.screenshot({ path: join(SCREENSHOTS, `docs-${name}.png`) });
};
