import { existsSync } from 'node:fs';

/** Debian's headless shell takes a third of the CPU time of its Chromium, which draws a window that is not shown. */
const PATHS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

export const BROWSER_PATH =
  process.env.CHROMIUM_PATH || (PATHS.find((path) => existsSync(path)) ?? '/usr/bin/chromium');

/** The browser itself sends nothing to other hosts. */
export const BROWSER_ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
