import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { aClient, errorOf, live, respondWith, targetAt } from '#test/support/webhooks.ts';

const MIB = 1024 * 1024;

/** A gibibyte of spaces: gzip members of 16 MiB each, which a decoder reads as one stream. */
const gzipBomb = (): Buffer => {
  const member = gzipSync(Buffer.alloc(16 * MIB, 0x20));
  return Buffer.concat(Array.from({ length: 64 }, () => member));
};
const brotliBomb = (): Buffer =>
  brotliCompressSync(Buffer.alloc(256 * MIB, 0x20), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const timeOf = (work: () => unknown): number => {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
};

test.each([
  ['gzip', gzipBomb, gunzipSync],
  ['br', brotliBomb, brotliDecompressSync],
] as const)(
  'a bomb in %s is refused before it has burst, and memory stays small',
  async (coding, bomb, burst) => {
    const body = bomb();
    const burstMs = timeOf(() => burst(body));
    const server = await respondWith(body, { headers: { 'content-encoding': coding } });
    const client = aClient();
    const target = targetAt(server.url);
    // Each call is another application's: an application pays for the bytes of its last response with its next call.
    const ask = (application_id: string) =>
      errorOf(client.queryGameList({ ...target, application_id }, { page_num: 1, page_size: 100 }, live()));
    await ask('first');
    const rssBefore = process.memoryUsage.rss();
    const startMs = performance.now();
    expect((await ask('second')).code).toBe('body_too_large');
    expect(performance.now() - startMs).toBeLessThan(burstMs / 4);
    expect(process.memoryUsage.rss() - rssBefore).toBeLessThan(50 * MIB);
  },
);
