import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { listAudit } from '#db/queries/audit.ts';
import { pullGameDetail } from '#src/ingest/specs.ts';
import { collectErrors, hasBrowser, useBrowser } from '#test/support/browser.ts';
import { addTestOperator, signInPage, startTestConsole, type TestConsole } from '#test/support/console.ts';
import { useTestFleet } from '#test/support/fleet.ts';
import { until } from '#test/support/until.ts';

describe.runIf(hasBrowser())('Bull Board in Chromium', () => {
  const fleet = useTestFleet(inject('redisUrl') === null ? 'postgres' : 'redis');
  const browser = useBrowser();
  let served: TestConsole;

  beforeAll(async () => {
    served = await startTestConsole(fleet, { prefix: fleet.prefix });
    await addTestOperator(fleet.sql, 'olga', 'admin');
    await addTestOperator(fleet.sql, 'vera', 'viewer');
    // A payload that does not parse fails at the first attempt.
    const worker = await fleet.startWorker();
    const { id } = await fleet.producer.queue(pullGameDetail).add('broken', {});
    const job = await fleet.jobEnded(pullGameDetail, id);
    expect(await job.isFailed()).toBe(true);
    await worker.stop(5_000);
  });
  afterAll(async () => {
    await served?.stop();
  });

  const openFailedJobs = async (login: string): Promise<{ page: Page; errors: string[] }> => {
    const page = await browser.newPage();
    const errors = collectErrors(page);
    await signInPage(page, served.url, login);
    await page.goto(`${served.url}/queues/queue/${pullGameDetail.name}?status=failed`);
    await page.getByText('broken').first().waitFor();
    return { page, errors };
  };
  const counts = () => fleet.producer.queue(pullGameDetail).getJobCounts('failed', 'waiting');

  test('a viewer sees a failed job and no button that changes it; a request that would is refused', async () => {
    const { page, errors } = await openFailedJobs('vera');
    expect(await page.getByRole('button', { name: /retry|clean|promote|remove/i }).count()).toBe(0);
    expect(errors).toEqual([]);
    const answer = await page.request.put(
      `${served.url}/queues/api/queues/${pullGameDetail.name}/retry/failed`,
      { headers: { origin: served.url } },
    );
    expect(answer.status()).toBe(403);
    expect(await counts()).toEqual({ failed: 1, waiting: 0 });
    await page.close();
  });

  test('says that FOUR_EYES is off, as every page does', async () => {
    const off = await startTestConsole(fleet, {
      prefix: fleet.prefix,
      fourEyes: { kinds: [], onceTwo: false },
    });
    for (const login of ['olga', 'vera']) {
      const page = await browser.newPage();
      await signInPage(page, off.url, login);
      await page.goto(`${off.url}/queues`);
      await page.getByText('FOUR_EYES is none').first().waitFor();
      await page.close();
    }
    await off.stop();
  });

  test.for([390, 1_280])('at %i pixels, each page has a way back to the console', async (width) => {
    const page = await browser.newPage({ viewport: { width, height: 800 } });
    for (const login of ['olga', 'vera']) {
      await page.context().clearCookies();
      await signInPage(page, served.url, login);
      await page.goto(`${served.url}/queues/queue/${pullGameDetail.name}`);
      const way = page.getByRole('link', { name: '← Console' });
      await page.locator('header li').nth(2).waitFor();
      const ends = await page
        .locator('header li')
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right));
      expect((await way.boundingBox())?.x).toBeGreaterThan(Math.max(...ends));
      await way.click();
      await page.getByRole('heading', { name: 'Queues', exact: true }).waitFor();
    }
    await page.close();
  });

  test('an administrator retries failed jobs, and the audit log has it', async () => {
    const { page, errors } = await openFailedJobs('olga');
    await page.getByRole('button', { name: 'Retry all' }).click();
    await page.getByRole('button', { name: /confirm/i }).click();
    await until('the job waits', async () => (await counts()).waiting === 1);
    const [entry] = await listAudit(fleet.sql, { action: 'queue.action', limit: 1 });
    expect(entry).toMatchObject({
      actor: 'olga',
      subject: `queue:${pullGameDetail.name}`,
      details: { method: 'PUT', path: `/queues/api/queues/${pullGameDetail.name}/retry/failed` },
    });
    await page.evaluate(() => fetch('/queues/api/queues/resume', { method: 'PUT' }));
    const [ofAll] = await listAudit(fleet.sql, { action: 'queue.action', limit: 1 });
    expect(ofAll).toMatchObject({ subject: 'queue:*', details: { path: '/queues/api/queues/resume' } });
    expect(errors).toEqual([]);
    await page.close();
  });
});
