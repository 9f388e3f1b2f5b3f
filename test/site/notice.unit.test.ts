import cookie from '@fastify/cookie';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { redirectWith } from '#src/site/answers.ts';

it('keeps a notice within what a browser takes as a cookie, in every script', async () => {
  await using app = fastify();
  await app.register(cookie);
  app.decorate('siteUrl', () => 'http://localhost');
  app.get('/', (request, reply) => redirectWith(reply, '/', (request.query as { text: string }).text));
  const noticeOf = async (text: string) => {
    const { headers } = await app.inject({ url: '/', query: { text } });
    return String(headers['set-cookie']);
  };
  expect(await noticeOf('Passed.')).toContain('=good%20Passed.;');
  for (const text of ['\u5bab'.repeat(600), '\u{1f3ae}'.repeat(400), '%'.repeat(2_000)]) {
    const sent = await noticeOf(text);
    expect(sent.length).toBeLessThan(4_096);
    const shown = decodeURIComponent(/=good%20([^;]*);/.exec(sent)?.[1] ?? '');
    expect(shown.length).toBeGreaterThan(390);
    expect(text.startsWith(shown)).toBe(true);
  }
});
