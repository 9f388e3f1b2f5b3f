import { describe, expect, test } from 'vitest';
import { useTestApi } from '#test/support/api.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';

const api = useTestApi();

test('/docs needs no token, and its policy allows nothing from other hosts and nothing inline', async () => {
  const response = await fetch(`${api.url}/docs`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  const page = await response.text();
  expect(page).not.toMatch(/https?:|<style|style=|<script>/);
  const files = [...page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => file);
  expect(files).toHaveLength(4);
  for (const file of files) expect((await fetch(`${api.url}/${file}`)).status).toBe(200);
});

test('the root says what the API is, and its links open', async () => {
  const page = await (await fetch(api.url)).text();
  expect(page).toContain('Game Catalogue API');
  const paths = [...page.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path);
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) expect((await fetch(`${api.url}/${path}`)).status, path).toBe(200);
});

describe.runIf(hasBrowser())('/docs in Chromium', () => {
  const browser = useBrowser();

  test.for([1280, 390])(
    'at %i pixels shows the whole contract, and loads nothing from other hosts',
    async (width) => {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      const errors = collectErrors(page);
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(`${api.url}/docs`);
      for (const operation of ['listByAuditStatus', 'queryDetail'])
        await page.locator(`#operations-Games-${operation}`).getByText('Too many calls.').waitFor();
      for (const text of ['50301', 'page_size', 'Authorization: Bearer', 'Retry-After', 'Lantern Harbour'])
        expect(await page.getByText(text).count(), text).toBeGreaterThan(0);
      expect(await page.locator('.first-request pre').textContent()).toContain(
        `curl ${api.url}/open-api/game/list-by-audit-status`,
      );
      for (const name of ['Try it out', 'Authorize'])
        expect(await page.getByRole('button', { name }).count(), name).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(errors).toEqual([]);
      for (const url of requests) expect(url.startsWith(api.url) || url.startsWith('data:'), url).toBe(true);
      await page.close();
    },
  );
});
