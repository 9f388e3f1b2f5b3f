export const BROWSER_PATH = process.env.CHROMIUM_PATH || '/usr/bin/chromium';

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
