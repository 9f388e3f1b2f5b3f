import { once } from 'node:events';
import { connect } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildMetricsApp } from '#src/metrics/app.ts';
import { useTestApi } from '#test/support/api.ts';
import {
  addTestOperator,
  PASSWORD,
  signIn,
  startTestConsole,
  useTestConsole,
} from '#test/support/console.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const logger = pino({ level: 'silent' });

/** Sends these bytes. @returns all that comes back */
const exchange = async (url: string, bytes: string): Promise<string> => {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.write(bytes);
  await once(socket, 'close');
  return text;
};

const REFUSED = [
  /^x-content-type-options: nosniff/im,
  /^content-type: \S+; charset=utf-8/im,
  /^content-security-policy: .*frame-ancestors 'none'/im,
  /^referrer-policy: same-origin/im,
];

describe('The headers of a response (OWASP ASVS 5, section 3.4)', () => {
  const database = useTestDatabase();
  const served = useTestConsole(database);
  const api = useTestApi();
  let metrics: Awaited<ReturnType<typeof buildMetricsApp>>;

  beforeAll(async () => {
    await addTestOperator(database.sql, 'olga', 'admin');
    metrics = await buildMetricsApp({
      name: 'test',
      registry: new Registry(),
      findUnreachable: async () => undefined,
      logger,
    });
    await metrics.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(async () => {
    await metrics?.close();
  });

  test('forbid sniffing and frames, also where a request is refused before it reaches a page', async () => {
    const { port } = metrics.server.address() as { port: number };
    const urls = [
      ...['/sign-in', '/nowhere', '/assets/none', '/%zz', `/games/${'x'.repeat(200)}`].map(
        (path) => `${served.url}${path}`,
      ),
      ...[
        '/',
        '/docs',
        '/openapi.json',
        '/healthz',
        '/nowhere',
        '/%zz',
        '/open-api/game/list-by-audit-status',
      ].map((path) => `${api.url}${path}`),
      ...['/metrics', '/healthz', '/nowhere', '/%zz'].map((path) => `http://127.0.0.1:${port}${path}`),
    ];
    for (const url of urls) {
      const { headers } = await fetch(url, { redirect: 'manual' });
      expect(headers.get('x-content-type-options'), url).toBe('nosniff');
      const policy = headers.get('content-security-policy');
      expect(policy, url).toContain("default-src 'none'");
      expect(policy, url).toContain("frame-ancestors 'none'");
      expect(headers.get('referrer-policy'), url).toBe('same-origin');
    }
    for (const url of [served.url, api.url]) {
      const trace = await exchange(
        url,
        'TRACE / HTTP/1.1\r\nHost: a\r\nX-Secret: s3cret\r\nConnection: close\r\n\r\n',
      );
      expect(trace).toMatch(/^HTTP\/1.1 40[45] /);
      expect(trace).not.toContain('s3cret');
      const answer = await exchange(url, 'this is not HTTP\r\n\r\n');
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      for (const header of REFUSED) expect(answer).toMatch(header);
    }
    const unmet = await exchange(api.url, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: it\r\n\r\n');
    for (const header of REFUSED) expect(unmet).toMatch(header);
  });

  test('of the console are those of its pages at a path that does not decode, and repeat nothing of it', async () => {
    const answer = await fetch(`${served.url}/%zz%3Cscript%3E`);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).not.toContain('%zz');
  });

  test('a sign-in of a page by plain http, whose cookie the browser would drop, says which address to open', async () => {
    const site = await startTestConsole(database, { url: () => 'https://games.example' });
    const post = (url: string, origin: string, body: Record<string, string>) =>
      site.app.inject({
        method: 'POST',
        url,
        headers: {
          origin,
          host: new URL(origin).host,
          'content-type': 'application/x-www-form-urlencoded',
        },
        payload: new URLSearchParams(body).toString(),
      });
    try {
      const typed = { login: 'olga', password: PASSWORD };
      for (const [path, body] of [
        ['/sign-in', typed],
        ['/portal/sign-in', { token: 'any' }],
      ] as const) {
        const refused = await post(path, 'http://192.0.2.2:8081', body);
        expect([refused.statusCode, refused.cookies]).toEqual([422, []]);
        expect(refused.body).toContain('open https://games.example');
      }
      for (const origin of ['https://games.example', 'http://localhost:8081'])
        expect((await post('/sign-in', origin, typed)).statusCode, origin).toBe(303);
    } finally {
      await site.stop();
    }
  });

  test('over https bind the browser to https for a year and every cookie to this host', async () => {
    const proxied = { 'x-forwarded-proto': 'https' };
    const secure = await startTestConsole(database, { trustedProxies: ['127.0.0.1'] });
    try {
      for (const path of ['/sign-in', '/nowhere', '/queues']) {
        const { headers } = await fetch(`${secure.url}${path}`, { headers: proxied, redirect: 'manual' });
        expect(headers.get('strict-transport-security'), path).toBe('max-age=31536000; includeSubDomains');
      }
      expect((await fetch(`${secure.url}/sign-in`)).headers.get('strict-transport-security')).toBeNull();
      // No proxy is trusted to say that it was https.
      const { headers } = await fetch(`${served.url}/sign-in`, { headers: proxied });
      expect(headers.get('strict-transport-security')).toBeNull();

      const entered = await fetch(`${secure.url}/sign-in`, {
        method: 'POST',
        headers: proxied,
        body: new URLSearchParams({ login: 'olga', password: PASSWORD }),
        redirect: 'manual',
      });
      const [session = ''] = entered.headers.getSetCookie();
      expect(session).toMatch(
        /^__Host-catalogue_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      );
      const cookie = session.split(';')[0] ?? '';
      const board = await fetch(`${secure.url}/queues`, { headers: { ...proxied, cookie } });
      expect(board.headers.get('strict-transport-security')).toContain('31536000');
      const added = await fetch(`${secure.url}/operators`, {
        method: 'POST',
        headers: { ...proxied, cookie },
        body: new URLSearchParams({ act: 'sign_out', login: 'nobody', password: PASSWORD }),
        redirect: 'manual',
      });
      const [notice = ''] = added.headers.getSetCookie();
      expect(notice).toMatch(/^__Host-catalogue_notice=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
      const shown = await fetch(`${secure.url}/operators`, {
        headers: { ...proxied, cookie: `${cookie}; ${notice.split(';')[0]}` },
      });
      expect(await shown.text()).toContain('There is no operator');
      const [cleared = ''] = shown.headers.getSetCookie();
      expect(cleared).toMatch(/^__Host-catalogue_notice=; .*Path=\/; .*Secure/);
    } finally {
      await secure.stop();
    }
  });

  test('let no other origin read a response, and name this address to none', async () => {
    const headers = { origin: 'https://evil.example' };
    for (const url of [`${served.url}/sign-in`, `${api.url}/openapi.json`, `${api.url}/healthz`]) {
      const answer = await fetch(url, { headers });
      expect(answer.headers.get('access-control-allow-origin'), url).toBeNull();
    }
    const page = await fetch(`${served.url}/sign-in`);
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    expect(page.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  test('of pages and of the API forbid caches to keep them', async () => {
    const cookie = await signIn(served.url, 'olga');
    for (const path of ['/', '/audit', '/operators', '/queues', '/queues/api/queues']) {
      const { status, headers } = await fetch(`${served.url}${path}`, { headers: { cookie } });
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
    }
    const called = await fetch(`${api.url}/open-api/game/list-by-audit-status`, { method: 'POST' });
    expect(called.headers.get('cache-control')).toBe('no-store');
  });
});
