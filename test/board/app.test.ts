import type { FastifyInstance, InjectOptions } from 'fastify';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BoardOptions, buildBoard } from '#src/board/app.ts';
import { FINISHED_JOB, LOGIN, openTestQueues, type TestQueues } from '#test/board/support.ts';

const PAUSE = { method: 'PUT', url: '/api/queues/query-game-list/pause' } as const;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const BROWSER = { accept: 'text/html,application/xhtml+xml', 'user-agent': 'Mozilla/5.0' };

let queues: TestQueues;
const apps: FastifyInstance[] = [];

beforeAll(async () => {
  queues = await openTestQueues('postgres');
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  await queues.queues[0].resume();
});
afterAll(() => queues.close());

const board = async (options: Partial<BoardOptions> = {}): Promise<FastifyInstance> => {
  const app = await buildBoard({
    queues: queues.queues,
    login: LOGIN,
    readOnly: false,
    trustedProxies: [],
    logger: pino({ level: 'silent' }),
    ...options,
  });
  apps.push(app);
  return app;
};

const signIn = (
  app: FastifyInstance,
  fields: Record<string, string> = {},
  headers: InjectOptions['headers'] = {},
) =>
  app.inject({
    method: 'POST',
    url: '/login',
    headers: { ...FORM, ...headers },
    payload: new URLSearchParams({ ...LOGIN, ...fields }).toString(),
  });

const sessionOf = async (app: FastifyInstance): Promise<{ cookie: string }> => {
  const [cookie] = (await signIn(app)).cookies;
  return { cookie: `${cookie?.name}=${cookie?.value}` };
};

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});

const isPaused = () => queues.queues[0].isPaused();

test('without sign-in every page and call of the board is refused', async () => {
  const app = await board();
  for (const url of [
    '/',
    '/queue/query-game-list',
    '/api/queues',
    '/static/favicon.ico',
    '/api/redis/stats',
  ]) {
    const page = await app.inject({ url, headers: BROWSER });
    expect([page.statusCode, page.headers.location]).toEqual([303, `/login?next=${encodeURIComponent(url)}`]);
    const { statusCode, body } = await app.inject({ url });
    expect(statusCode).toBe(401);
    expect(body).not.toContain('query-');
  }
  expect((await app.inject(PAUSE)).statusCode).toBe(401);
  expect(await isPaused()).toBe(false);
});

test('sign-in redirects to the requested page and sets a cookie that scripts cannot read', async () => {
  const app = await board();
  const asked = '/queue/query-game-list?status=completed';
  const form = await app.inject({ url: `/login?next=${encodeURIComponent(asked)}`, headers: BROWSER });
  expect(form.body).toContain(`value="${asked}"`);

  const answer = await signIn(app, { next: asked });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, asked]);
  expect(answer.headers['set-cookie']).toMatch(
    /^catalogue_board=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const { body } = await app.inject({
    url: '/api/queues?activeQueue=query-game-list',
    headers: await sessionOf(app),
  });
  expect(JSON.parse(body).queues[0].jobs[0].name).toBe(FINISHED_JOB);
});

test('a sign-in over https sets a cookie for https only', async () => {
  const behindProxy = await signIn(await board(), {}, { 'x-forwarded-proto': 'https' });
  expect(behindProxy.cookies[0]?.secure).toBe(true);
});

test.each([
  'https://evil.example/',
  '//evil.example/',
  '/\\evil.example/',
  '/.//evil.example/',
  'javascript:alert(1)',
  'x',
])('sign-in does not redirect to %s', async (next) => {
  const answer = await signIn(await board(), { next });
  expect(new URL(answer.headers.location ?? '', 'http://localhost/').host).toBe('localhost');
});

test('the sign-in page escapes its query', async () => {
  const app = await board();
  const { body } = await app.inject(`/login?next=${encodeURIComponent('/"><script>alert(1)</script>')}`);
  expect(body).not.toContain('<script');
  expect((await app.inject('/login?next=/a&next=/b')).statusCode).toBe(200);
});

test('the answer to wrong credentials does not tell user and password apart', async () => {
  const app = await board();
  const user = await signIn(app, { user: 'oleg' });
  const password = await signIn(app, { password: 'guess' });
  expect([user.statusCode, password.statusCode, user.cookies]).toEqual([401, 401, []]);
  expect(user.body).toBe(password.body);
  expect(user.body).toContain('role="alert"');
  expect((await signIn(app, { user: '', password: '' })).statusCode).toBe(401);
  const nothing = await app.inject({ method: 'POST', url: '/login', headers: FORM, payload: '' });
  expect(nothing.statusCode).toBe(400);
});

test('wrong passwords by form and by HTTP Basic delay further attempts, and an open session still works', async () => {
  const app = await board();
  const session = await sessionOf(app);
  for (let guess = 0; guess < 3; guess += 1) await signIn(app, { password: 'guess' });
  for (let guess = 0; guess < 2; guess += 1)
    await app.inject({ url: '/', headers: basic(LOGIN.user, 'guess') });

  const right = await signIn(app);
  expect([right.statusCode, right.headers['retry-after'], right.cookies]).toEqual([429, '1', []]);
  const probe = await app.inject({ url: '/api/queues', headers: basic(LOGIN.user, LOGIN.password) });
  expect([probe.statusCode, probe.headers['retry-after']]).toEqual([429, '1']);
  expect((await app.inject({ url: '/api/queues', headers: session })).statusCode).toBe(200);
});

const PROXY = '10.0.0.2';

/** Sign in from a peer that sends this X-Forwarded-For. */
const signInBy = (app: FastifyInstance, peer: string, forwardedFor: string, password = LOGIN.password) =>
  app.inject({
    method: 'POST',
    url: '/login',
    headers: { ...FORM, 'x-forwarded-for': forwardedFor },
    remoteAddress: peer,
    payload: new URLSearchParams({ ...LOGIN, password }).toString(),
  });

test.each([
  ['no proxy is trusted', [], PROXY],
  ['only other proxies are trusted', ['10.0.0.3', 'fd00::/8'], PROXY],
  ['the client does not connect through the proxy', [PROXY], '198.51.100.7'],
])('a client cannot evade the delay with X-Forwarded-For if %s', async (_title, trustedProxies, peer) => {
  const app = await board({ trustedProxies });
  for (let guess = 0; guess < 5; guess += 1) await signInBy(app, peer, `203.0.113.${guess}`, 'guess');
  expect((await signInBy(app, peer, '203.0.113.99')).statusCode).toBe(429);
});

test.each([
  ['its address', PROXY, PROXY],
  ['its network', '10.0.0.0/8', PROXY],
  ['its address, also mapped into IPv6', PROXY, `::ffff:${PROXY}`],
])('behind a proxy trusted by %s a client delays only its own attempts', async (_title, trusted, peer) => {
  const app = await board({ trustedProxies: [trusted] });
  // The proxy appends the address of its client; the part before it comes from the client and is not trusted.
  for (let guess = 0; guess < 5; guess += 1)
    await signInBy(app, peer, `203.0.113.${guess}, 198.51.100.7`, 'guess');
  expect((await signInBy(app, peer, '198.51.100.7')).statusCode).toBe(429);
  expect((await signInBy(app, peer, '198.51.100.8')).statusCode).toBe(303);
});

test('sign-out is a form, and ends the session for every copy of its cookie', async () => {
  const app = await board();
  const session = await sessionOf(app);
  const asked = await app.inject({ url: '/logout', headers: session });
  expect(asked.body).toContain('<form method="post" action="/logout">');
  expect((await app.inject({ url: '/api/queues', headers: session })).statusCode).toBe(200);

  const out = await app.inject({ method: 'POST', url: '/logout', headers: session });
  expect([out.statusCode, out.headers.location]).toEqual([303, '/login']);
  expect((await app.inject({ url: '/api/queues', headers: session })).statusCode).toBe(401);
});

test('curl and probes sign in with HTTP Basic; only a browser gets no Basic challenge', async () => {
  const app = await board();
  const get = (headers: InjectOptions['headers']) => app.inject({ url: '/api/queues', headers });
  expect((await get(basic(LOGIN.user, LOGIN.password))).statusCode).toBe(200);
  expect((await get(basic(LOGIN.user, 'guess'))).statusCode).toBe(401);
  expect((await get({ authorization: 'Basic !' })).statusCode).toBe(401);
  expect((await get({})).headers['www-authenticate']).toMatch(/^Basic realm=/);
  expect((await get({ 'user-agent': 'Mozilla/5.0' })).headers['www-authenticate']).toBeUndefined();
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
  ['an origin of another name', { origin: 'http://evil.example' }],
  ['an origin of another port', { host: 'localhost:8081', origin: 'http://localhost:8080' }],
  ['a sandboxed frame', { origin: 'null' }],
])(
  'a request from a page of %s changes nothing, with a session and without a login',
  async (_where, headers) => {
    const closed = await board();
    const open = await board({ login: null });
    const session = await sessionOf(closed);
    const answers = [
      await closed.inject({ ...PAUSE, headers: { ...headers, ...session } }),
      await closed.inject({ ...PAUSE, headers: { ...headers, ...basic(LOGIN.user, LOGIN.password) } }),
      await open.inject({ ...PAUSE, headers }),
      await signIn(closed, {}, headers),
    ];
    expect(answers.map((answer) => answer.statusCode)).toEqual([403, 403, 403, 403]);
    expect(await isPaused()).toBe(false);
  },
);

test.each([
  [
    'its own script',
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8081', host: 'localhost:8081' },
  ],
  ['its own script over plain http', { origin: 'http://localhost:8081', host: 'localhost:8081' }],
  [
    'a proxy that rewrites Host',
    { 'sec-fetch-site': 'same-origin', origin: 'https://b.example', host: 'board:8081' },
  ],
  ['curl', {}],
])('a signed-in operator pauses a queue by %s', async (_how, headers) => {
  const app = await board();
  const answer = await app.inject({ ...PAUSE, headers: { ...headers, ...(await sessionOf(app)) } });
  expect(answer.statusCode).toBe(200);
  expect(await isPaused()).toBe(true);
});

test('a board without a login shows this, and answers only to the names of this machine', async () => {
  // After DNS rebinding, a page in a browser of this machine may send any header.
  const app = await board({ login: null, trustedProxies: ['127.0.0.1'] });
  const get = (host: string) =>
    app.inject({ url: '/', headers: { host, 'x-forwarded-host': 'localhost' }, remoteAddress: '127.0.0.1' });
  for (const host of ['localhost:8081', '127.0.0.1:8081', '[::1]:8081']) {
    const { statusCode, body } = await get(host);
    expect(statusCode).toBe(200);
    expect(body).toContain('No login is set');
  }
  for (const host of ['rebound.example:8081', '192.0.2.1', '127.0.0.1.nip.io']) {
    const { statusCode, body } = await get(host);
    expect(statusCode).toBe(421);
    expect(body).not.toContain('query-');
  }
  expect((await app.inject('/login')).statusCode).toBe(404);
});

test('a read-only board shows everything and refuses every change, signed in or not', async () => {
  const viewer = await board({ readOnly: true });
  const headers = await sessionOf(viewer);
  const list = await viewer.inject({ url: '/api/queues?activeQueue=query-game-list', headers });
  const [queue] = JSON.parse(list.body).queues;
  expect([queue.jobs[0].name, queue.readOnlyMode, queue.allowRetries]).toEqual([FINISHED_JOB, true, false]);

  const job = `/api/queues/query-game-list/${queue.jobs[0].id}`;
  const changes = [
    PAUSE,
    { method: 'PUT', url: '/api/queues/pause' },
    { method: 'PUT', url: '/api/queues/query-game-list/obliterate' },
    { method: 'PUT', url: `${job}/retry` },
    { method: 'PUT', url: `${job}/clean` },
    { method: 'PATCH', url: `${job}/update-data`, payload: { jobData: {} } },
    { method: 'POST', url: '/api/queues/query-game-list/add', payload: { name: 'x', data: {} } },
  ] as const;
  const open = await board({ readOnly: true, login: null });
  for (const change of changes) {
    for (const answer of [await viewer.inject({ ...change, headers }), await open.inject(change)]) {
      expect(answer.statusCode).toBe(405);
    }
  }
  const refused = await viewer.inject({ ...PAUSE, headers });
  expect([refused.statusCode, refused.headers.allow]).toEqual([405, 'GET, HEAD']);
  expect(await isPaused()).toBe(false);
  expect(await queues.queues[0].getJobCounts('completed', 'waiting')).toEqual({ completed: 1, waiting: 0 });
});

test('the headers of every answer forbid frames, caches, sniffing and other origins', async () => {
  const app = await board();
  const session = await sessionOf(app);
  const answers = [
    await app.inject({ url: '/', headers: session }),
    await app.inject({ url: '/api/queues', headers: session }),
    await app.inject('/login'),
    await app.inject('/nowhere'),
    await app.inject('/api/queues'),
  ];
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/);
  }
  expect(answers[0]?.body).not.toMatch(/(href|src)="https?:/);
  expect(answers[2]?.headers['content-security-policy']).not.toContain('unsafe');
});

test('a failure is JSON under /api and a page elsewhere, and never a stack trace', async () => {
  const app = await board();
  const session = await sessionOf(app);
  const missing = await app.inject({ url: '/api/queues/query-game-list/999', headers: session });
  expect(missing.statusCode).toBe(404);
  const malformed = await app.inject({
    method: 'POST',
    url: '/api/queues/query-game-list/add',
    headers: { ...session, 'content-type': 'application/json' },
    payload: '{',
  });
  expect(malformed.statusCode).toBe(400);
  expect(JSON.parse(malformed.body)).toEqual({ error: expect.any(String) });
  const nowhere = await app.inject({ url: '/nowhere', headers: session });
  expect([nowhere.statusCode, nowhere.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
});

test('a queue that fails is a 500 with its error in JSON, without a stack trace', async () => {
  const broken = await openTestQueues('postgres');
  const app = await board({ queues: broken.queues });
  const session = await sessionOf(app);
  await broken.breakDown();
  const { statusCode, body } = await app.inject({ url: '/api/queues', headers: session });
  await broken.close();
  expect(statusCode).toBe(500);
  expect(JSON.parse(body)).toEqual({ error: expect.stringContaining('does not exist') });
});

test('the log has a line for each change and each sign-in, and no typed text', async () => {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const app = await board({ logger: pino({}, stream) });
  await signIn(app, { user: 'typed-user', password: 'typed-password' });
  const headers = await sessionOf(app);
  await app.inject({ url: '/api/queues', headers });
  await app.inject({ ...PAUSE, headers });
  expect(lines.map((line) => line.msg)).toEqual(['board sign-in refused', 'board sign-in', 'board action']);
  expect(lines[2]).toMatchObject({ ...PAUSE, status: 200, address: '127.0.0.1' });
  expect(JSON.stringify(lines)).not.toMatch(/typed-|correct horse/);
});
