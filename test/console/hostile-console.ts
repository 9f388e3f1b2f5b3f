import { beforeAll, expect, test } from 'vitest';
import { ROLES } from '#src/contract/roles.ts';
import { fillConsole } from '#test/console/filled-console.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addToken } from '#test/support/factories.ts';
import { type Fields, findServerErrors, hostileRequests, listRoutes } from '#test/support/hostile-input.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const ID = '019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b';
const CURSOR = `due,${ID},2026-01-01T00:00:00.000Z`;
/** The parameters that each page reads. */
const QUERIES: Fields = {
  '/review': {
    lane: 'changed',
    application: '',
    q: '',
    view: 'gallery',
    moved: '',
    sort: 'due',
    cursor: CURSOR,
  },
  '/games': { q: 'x', status: 'pending', application: '', sort: '-first_seen', cursor: `-first_seen,${ID}` },
  '/games/:game_id': { lane: 'changed', back: '', after: CURSOR, from: '1', to: '2' },
  '/games/:game_id/viewers': { revision: '1' },
  '/games/:game_id/pictures': { field: 'game_icon', from: '1', to: '2', polls: '1' },
  '/applications': { q: 'x', status: 'failing', outcome: 'failed', sort: 'name', cursor: 'name,acme,Acme' },
  '/application-names': { q: 'x' },
  '/runs': { application: '', outcome: 'failed', since: '24h', sort: 'listed', cursor: `listed,${ID},1` },
  '/runs/:run_id': { sort: 'page_num', cursor: 'page_num,2' },
  '/figures': { since: '', sort: '-day', cursor: '-day,olga,2026-01-01' },
  '/figures/rejections': { since: '', sort: 'reviewer', cursor: 'reviewer,other,olga' },
  '/failures': { application: '', sort: '-games', cursor: '-games,acme,1' },
  '/audit': { actor: '', action: '', subject: '', since: '2026-01-01', until: '1h', cursor: '-entry_id,9' },
  '/operators': { role: 'viewer', status: 'active', q: '', sort: 'name', cursor: 'name,olga,Olga' },
  '/reasons': { q: '', sort: 'position', cursor: 'position,other,1' },
  '/batches/:batch_id': { lane: 'new', sort: 'game_id', cursor: `game_id,${ID}` },
  '/icons': { games: 'x', size: 'tiny', polls: '1' },
  '/review/names': { games: 'x' },
  '/pictures/:id': { w: '64' },
  '/sign-in': { next: '/', link: 'x' },
  '/tokens': { application: '', operator: '', q: '', sort: 'name', cursor: `name,${ID},x` },
  '/queues*': { activeQueue: 'tick', status: 'failed', page: '1', jobsPerPage: '10' },
  '/portal/games': { status: 'withdrawn', q: '', cursor: `-withdrawn_at,${ID},2026-01-01` },
  '/portal/game': { id: 'lw-0001' },
  '/portal/picture': { id: 'lw-0001', n: '0' },
  '/portal/runs': { outcome: '', since: '', sort: 'failed', cursor: `failed,${ID},0` },
  '/portal/events': { state: '', sort: 'created_at', cursor: `created_at,${ID}` },
};
/** Answering these, the console ends the session of all others. */
const ENDS_SESSIONS = ['/sign-out', '/portal/sign-out'];
/** Of each address and of each login, the console answers a few an hour. */
const LIMITED = ['/sign-in', '/portal/sign-in', '/account/password'];
const DECISION = { act: 'reject', lane: 'changed', reason: 'other', text: 'text', note: 'note' };
const formsFor = (game_id: string): Fields => ({
  '/review': { ...DECISION, game: `${game_id}@1` },
  '/games/:game_id': {
    ...DECISION,
    ...{ revision: '1', seen_status: 'pending', seen_pictures: '', cursor: CURSOR },
  },
  '/games/:game_id/package': { url: 'https://cdn.example/a.apk' },
  '/undo': { batch: '' },
  '/runs/:run_id/withdrawals': { act: 'selected', game: game_id, reason: 'why' },
  '/applications/:application_id': { act: 'pause' },
  '/failures': { application: 'lantern-works' },
  '/operators': { act: 'roles', login: 'viewer', name: 'Name', role: 'viewer' },
  '/reasons': { act: 'add', code: 'other', label: 'Other' },
  '/account/sessions': { session: '0'.repeat(64) },
  '/account/password': { current: 'x', password: 'y' },
  '/sign-in': { login: 'unknown', password: 'x', next: '/', link: 'x' },
  '/portal/sign-in': { token: 'x' },
  '/applications/:application_id/events': { act: 'set', url: 'https://acme.example/events', api_token: '' },
  '/applications/:application_id/settings': { name: 'N', every: '15m', rate: '5' },
  '/tokens': { token_id: ID },
  '/queues': { act: 'pause', queue: 'tick' },
  '/portal/game': { id: 'lw-0001' },
  '/portal/events': { since: '1h', event_id: ID },
  '/portal/events/address': { act: 'set', url: 'https://acme.example/events', api_token: '' },
});

/** No input is answered by a server error. @param isWhole see `hostileRequests` */
export const testHostileInput = (isWhole: boolean): void => {
  const database = useTestDatabase();
  const served = useTestConsole(database);
  let known: Record<string, string>;
  let token: string;
  let portal: string;

  beforeAll(async () => {
    const { sql } = database;
    const { changed_id, run_id, batch_id } = await fillConsole(sql);
    for (const role of ROLES) await addTestOperator(sql, role, role);
    await addTestOperator(sql, 'olga', ...ROLES);
    ({ token } = await addToken(sql, 'lantern-works'));
    known = {
      ...{ ':game_id': changed_id, ':run_id': run_id, ':batch_id': batch_id },
      ...{ ':application_id': 'lantern-works', '*': '/api/queues' },
    };
    const answer = await fetch(new URL('/portal/sign-in', served.url), {
      method: 'POST',
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    });
    portal = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  });

  const requests = (isWanted: (path: string, method: string) => boolean) => {
    const routes = listRoutes(served.app).filter(
      ({ path, method }) => !ENDS_SESSIONS.includes(path) && isWanted(path, method),
    );
    return hostileRequests(
      routes,
      known,
      { queries: QUERIES, forms: formsFor(known[':game_id'] ?? '') },
      isWhole,
    );
  };

  test('the table names every page that reads parameters', () => {
    const paths = listRoutes(served.app).map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining([...Object.keys(QUERIES), ...Object.keys(formsFor('x'))]));
  });

  test.each([
    { what: 'reads the console', isPortal: false, isRead: true },
    { what: 'changes something in the console', isPortal: false, isRead: false },
    { what: 'reads the portal', isPortal: true, isRead: true },
    { what: 'changes something in the portal', isPortal: true, isRead: false },
  ])(
    'no request of an operator with every role, or of a developer, that $what is a server error',
    async ({ isPortal, isRead }) => {
      const cookie = `${await signIn(served.url, 'olga')}; ${portal}`;
      const sent = requests(
        (path, method) =>
          !LIMITED.includes(path) && path.startsWith('/portal') === isPortal && (method === 'GET') === isRead,
      );
      expect(await findServerErrors(served.url, cookie, sent)).toEqual([]);
    },
  );

  test.each(ROLES)('no page that the role %s opens is a server error', async (role) => {
    const cookie = await signIn(served.url, role);
    const sent = requests((path, method) => method === 'GET' && path.includes('_id'));
    expect(await findServerErrors(served.url, cookie, sent)).toEqual([]);
  });

  test('no sign-in is answered by a server error', async () => {
    const { sql } = database;
    const cookie = await signIn(served.url, 'olga');
    await sql`create function allow() returns trigger language plpgsql as $$ begin new.attempts := 0; return new; end $$`;
    await sql`create trigger allow before insert or update on sign_in_attempts for each row execute function allow()`;
    const sent = requests((path) => LIMITED.includes(path));
    expect(await findServerErrors(served.url, cookie, sent)).toEqual([]);
    const last = await fetch(new URL('/sign-in', served.url), {
      method: 'POST',
      body: new URLSearchParams({ login: 'unknown', password: 'x' }),
    });
    expect(last.status).toBe(401);
  });
};
