// Every act of the operator API, by the token of an operator: who may, what it answers, and who it was.
import { beforeAll, expect, test } from 'vitest';
import { insertAppeal } from '#db/queries/appeals.ts';
import { listAudit } from '#db/queries/audit.ts';
import { upsertGames } from '#db/queries/games.ts';
import { closeRun } from '#db/queries/runs.ts';
import { ENDPOINTS } from '#src/api/endpoints.ts';
import { openapiOperator } from '#src/api/openapi-operator.ts';
import { FOUR_EYES_BY_DEFAULT } from '#src/contract/approvals.ts';
import type { OperationName } from '#src/contract/audit.ts';
import { hasRight, ROLES, type Role } from '#src/contract/roles.ts';
import { LISTS } from '#src/lists/index.ts';
import { operations } from '#src/operations/index.ts';
import { approve } from '#src/operations/requests.ts';
import { ID, inputsOf } from '#test/operations/inputs.ts';
import { addOperators, answerBy, askBy } from '#test/support/approvals.ts';
import { addApplication, addToken, anOpenRun, fetchedGame } from '#test/support/factories.ts';
import { PLANTED, ringOf, store } from '#test/support/kyc.ts';
import { createDocumentCheck } from '#test/support/openapi.ts';
import { decideGame, KIM, switchOperator } from '#test/support/operate.ts';
import { useOperatorApi } from '#test/support/operator-api.ts';

const keys = ringOf(['k1']);
/** Changed by a test: what takes two persons. */
const fourEyes = { kinds: [...FOUR_EYES_BY_DEFAULT.kinds], onceTwo: false };
const api = useOperatorApi({ keys: async () => ({ ...keys, records: [] }), fourEyes });
const checkBody = createDocumentCheck(openapiOperator()).answer;
const token: Record<string, string> = {};
let suspect: string;
let games: { game_id: string; revision: number }[];
const bodies: string[] = [];

beforeAll(async () => {
  const { sql } = api.database;
  await addApplication(sql, 'acme', {}, keys);
  await store(sql, keys, 'acme', PLANTED);
  await store(sql, keys, 'acme', { ...PLANTED, cp_id: 'cp-other' });
  const fetched = [fetchedGame(), fetchedGame({ game_id: 'g-2' }), fetchedGame({ game_id: 'g-3' })];
  await upsertGames(sql, 'acme', fetched);
  games = await sql`select game_id, revision from games order by game_id`;
  const run = await anOpenRun(sql, 'acme');
  await closeRun(sql, run, { outcome: 'suspect', reason: 'all games are gone' });
  suspect = run.run_id;
  await sql`insert into vanishing_games (run_id, game_id) select ${suspect}, game_id from games order by game_id limit 1`;
  await addOperators(sql, { olga: ['admin', 'reviewer'], lee: ['reviewer'], vera: ['viewer'] });
  for (const role of ROLES) token[role] = (await api.addToken(`only-${role}`, role)).token;
  token.every = (await api.addToken('every', ...ROLES)).token;
});

const called = new Set<string>();
/** Calls an act that succeeds. @returns its data */
const act = async (name: OperationName, body: object = {}) => {
  const answer = await api.call(token.every ?? '', name, body);
  expect([name, answer.body.ret_msg]).toEqual([name, 'success']);
  checkBody(ENDPOINTS.find((each) => each.name === name)?.path ?? '', 200, answer.body);
  bodies.push(JSON.stringify(answer.body));
  called.add(name);
  return answer.body.data;
};
const codeOf = async (who: string, name: string, body: object | string): Promise<number> => {
  const { status, body: answer } = await api.call(token[who] ?? who, name, body);
  expect(status).toBe(answer.ret_code === 0 ? 200 : Math.floor(answer.ret_code / 100));
  checkBodyOf(name, status, answer);
  bodies.push(JSON.stringify(answer));
  return answer.ret_code;
};
const checkBodyOf = (name: string, status: number, answer: unknown): void => {
  const endpoint = ENDPOINTS.find((each) => each.name === name);
  if (endpoint?.answer !== undefined) checkBody(endpoint.path, status, answer);
};

test('each act succeeds, and its answer is what the document says', async () => {
  const [first, second, third] = games;
  if (third === undefined) throw new Error('no games');
  const acme = { application_id: 'acme' };
  const webhooks = {
    query_game_list_webhook: 'https://new.example/list',
    query_game_detail_webhook: 'https://new.example/detail',
    query_cp_kyc_webhook: 'https://new.example/kyc',
  };
  const added = { application_id: 'new', name: 'New', access_token: 'a-secret-token', ...webhooks };
  await act('application.add', { ...added, every: '1h' });
  const { secret } = await act('application.update', {
    ...acme,
    events_webhook: 'https://acme.example/events',
  });
  expect(secret).toMatch(/^whsec_/);
  await act('event_secret.rotate', acme);
  await act('event.retry', acme);
  await act('event.test', acme);
  await act('event_webhook.set', { ...acme, url: 'https://acme.example/other' });
  const { subscription_id } = await act('event.subscribe', { url: 'https://copy.example/events' });
  await act('event.resume', { subscription_id });
  await act('event_secret.rotate_subscription', { subscription_id });
  await act('event.unsubscribe', { subscription_id });
  await act('event_webhook.remove', acme);
  expect(await act('application.pause', acme)).toEqual({ ...acme, status: 'paused' });
  await act('application.resume', acme);
  expect(await act('application.hold', { ...acme, reason: 'the rights' })).toEqual({ ...acme, games: 0 });
  expect(await act('application.release', acme)).toEqual({ ...acme, games: 0 });
  await act('application.resume_failing');
  expect(await act('application.check', acme)).toEqual({ opened: true });
  const request = { kind: 'withdrawals', subject: `run:${suspect}`, reason: 'they are gone' };
  const { approval_id } = await act('approval.request', request);
  await act('approval.cancel', { approval_id, kind: 'withdrawals' });
  const other = (await api.addToken('other', 'reviewer')).token;
  const asked = await api.call(other, 'approval.request', request);
  await act('approval.decline', { approval_id: asked.body.data.approval_id, kind: 'withdrawals' });
  const again = await act('approval.request', request);
  await answerBy(api.database.sql, 'lee', approve, again.approval_id);
  const accepted = { run_id: suspect, approval_id: again.approval_id };
  expect((await act('run.accept_withdrawals', accepted)).game_ids).toHaveLength(1);
  fourEyes.kinds = [];
  await act('run.start_accepting', acme);
  fourEyes.kinds = [...FOUR_EYES_BY_DEFAULT.kinds];
  const { run } = await act('run.start', acme);
  expect((await act('run.cancel', { run_id: run.run_id })).cancelled).toBe(true);
  await act('game.pull', { ...acme, application_game_ids: ['g-1'] });
  await act('failure.retry', acme);
  const seen = [second, third];
  const { batch_id, games: decided } = await act('game.pass', { games: seen });
  expect(decided.map(({ result }: { result: string }) => result)).toEqual(['decided', 'decided']);
  await act('game.undo', { batch_id });
  await act('game.reject', { games: [second], reason: 'incomplete', text: 'The end is missing.' });
  const written = { game_id: third.game_id, text: 'Why?' };
  await act('game.note', written);
  await act('game.message', written);
  for (const [name, reason] of [
    ['game.uphold', 'incomplete'],
    ['game.overturn', 'other'],
  ] as const) {
    await decideGame(api.database.sql, { ...written, audit_status: 'rejected', reason });
    await insertAppeal(api.database.sql, written);
    await act(name, { ...written, ...(name === 'game.overturn' && third) });
  }
  await act('game.package', { urls: [{ game_id: first?.game_id, game_package_url: 'https://x.example/p' }] });
  await act('picture.repair', { sha256: ['0'.repeat(64)] });
  await act('reason.add', { code: 'gambling', label: 'Games of chance' });
  await act('reason.retire', { code: 'gambling' });
  for (const name of ['queue.pause', 'queue.resume', 'queue.retry_failed'] as const) await act(name);
  const made = await act('token.create', acme);
  await act('token.revoke', { token_id: made.token_id });
  await act('kyc.pull', acme);
  await act('operator.sign_out', { login: 'vera' });
  await act('operator.disable', { login: 'vera' });
  await act('application.remove', { application_id: 'new' });
  const { token_id } = await addToken(api.database.sql, null, null, { login: 'every', roles: ['viewer'] });
  await act('token.revoke_own', { token_id });
  const documented = ENDPOINTS.filter(
    ({ name, answer }) => answer !== undefined && operations.has(name as OperationName),
  );
  expect([...called].toSorted()).toEqual(documented.map(({ name }) => name).toSorted());
});

test('the audit log names the operator and the token', async () => {
  const rows = await listAudit(api.database.sql, { limit: 1_000, actor: 'every' });
  expect(rows.length).toBeGreaterThan(30);
  const [{ token_id } = { token_id: '' }] = await api.database.sql<{ token_id: string }[]>`
    select token_id from api_tokens where login = 'every' order by created_at limit 1`;
  for (const { actor_kind, details, action } of rows)
    expect([action, actor_kind, details]).toEqual([
      action,
      'operator',
      expect.objectContaining({ token_id }),
    ]);
});

test('every refusal has the code of the document', async () => {
  const [, second] = games;
  const decision = { games: [{ game_id: second?.game_id, revision: 1 }] };
  expect(await codeOf('viewer', 'game.pass', decision)).toBe(40301);
  expect(await codeOf('every', 'game.pass', { games: [{ ...second, revision: 7 }] })).toBe(40901);
  expect(await codeOf('every', 'game.pass', { games: Array(1_001).fill(second) })).toBe(40001);
  expect(await codeOf('every', 'game.pass', { games: [{ ...second, revison: 1 }] })).toBe(0);
  expect(await codeOf('every', 'game.pass', { ...decision, seen: 'pending' })).toBe(40001);
  expect(await codeOf('every', 'run.cancel', { run_id: ID })).toBe(40402);
  const run = await anOpenRun(api.database.sql, 'acme').catch(() => undefined);
  expect(run).toBeDefined();
  if (run) await closeRun(api.database.sql, run, { outcome: 'suspect', reason: 'gone' });
  expect(await codeOf('every', 'run.accept_withdrawals', { run_id: run?.run_id })).toBe(40302);
  expect(await codeOf('every', 'run.accept_withdrawals', { run_id: run?.run_id, approval_id: ID })).toBe(
    40302,
  );
  const { token: application } = await addToken(api.database.sql, 'acme');
  // Before its body is read: megabytes of keys take a second.
  for (const body of [decision, '[']) expect(await codeOf(application, 'game.pass', body)).toBe(40301);
  expect(await codeOf('every', 'token.create', { login: 'olga' })).toBe(40301);
  expect(
    await codeOf('every', 'approval.request', { kind: 'reveal', subject: 'application:acme', reason: 'x' }),
  ).toBe(40301);
  const { approval_id, kind } = await askBy(api.database.sql, 'olga', {
    kind: 'officer',
    subject: 'operator:vera',
    reason: 'x',
    act: 'roles',
    roles: ['kyc_officer'],
  });
  for (const name of ['approval.cancel', 'approval.decline'])
    expect(await codeOf('every', name, { approval_id, kind })).toBe(40301);
  expect(await codeOf('every', 'run.start_accepting', { application_id: 'acme' })).toBe(40302);
});

test('what takes a person refuses every token, and says where it is done', async () => {
  const { message } = await api
    .call(token.every ?? '', 'kyc.reveal', { application_id: 'acme', reason: 'x' })
    .then(({ body }) => ({ message: [body.ret_code, body.ret_msg] }));
  expect(message).toEqual([40301, expect.stringContaining('at the KYC desk, and not by a token')]);
});

test('the matrix: each role may what its definition says, and nothing else', async () => {
  const inputs = inputsOf(suspect);
  const may = (name: string, role: Role): boolean => {
    if (name === 'event.list' || name === 'game.show') return true;
    const list = LISTS.find((each) => each.name === name);
    if (list !== undefined) return hasRight([role], list.right);
    const operation = operations.get(name as OperationName);
    if (operation === undefined || operation.right === 'system' || operation.right === 'application')
      throw new Error(`${name} is no act`);
    if (operation.notByToken !== undefined || operation.knownBy === 'session') return false;
    const { right } = operation;
    return (
      right === 'own' || hasRight([role], typeof right === 'function' ? right(inputs[operation.name]) : right)
    );
  };
  const required: Record<string, object> = {
    'run.pages': { run_id: ID },
    'run.withdrawals': { run_id: ID },
    'review.batch': { batch_id: ID },
    'game.thread': { game_id: ID },
    'game.rejected': { application_id: 'acme' },
    'game.withdrawn': { application_id: 'acme' },
    'kyc.versions': { application_id: 'acme' },
    'application.checks': { application_id: 'acme' },
  };
  const others: Record<string, object> = { 'event.list': {}, 'game.show': { game_id: ID } };
  for (const { name } of ENDPOINTS) {
    const isList = LISTS.some((each) => each.name === name);
    const body =
      others[name] ?? (isList ? { filter: required[name] ?? {} } : (inputs[name as OperationName] ?? {}));
    for (const role of ROLES) {
      const code = await codeOf(role, name, body);
      expect([name, role, code !== 40301], String(code)).toEqual([name, role, may(name, role)]);
    }
  }
});

test('a token ends with its operator at once, and does no more than the operator may', async () => {
  const { sql } = api.database;
  const { token: bot } = await api.addToken('bot', 'admin', 'reviewer');
  expect(await codeOf(bot, 'reason.add', { code: 'new_one', label: 'New' })).toBe(0);
  await sql`update operators set roles = '{viewer}' where login = 'bot'`;
  expect(await codeOf(bot, 'reason.add', { code: 'new_one', label: 'New' })).toBe(40301);
  expect(await codeOf(bot, 'game.list', {})).toBe(40301);
  await sql`update operators set roles = '{admin,viewer}' where login = 'bot'`;
  expect(await codeOf(bot, 'game.list', {})).toBe(0);
  await switchOperator(sql, KIM.actor, 'bot', 'disabled');
  expect(await codeOf(bot, 'game.list', {})).toBe(40103);
  await switchOperator(sql, KIM.actor, 'bot', 'active');
  expect(await codeOf(bot, 'game.list', {})).toBe(40103);
});

test('no answer has a KYC value, an access token or a token that was made before', () => {
  const { cp_id: _cp_id, ...values } = PLANTED;
  const all = bodies.join('\n') + api.logged.join('\n');
  for (const value of [...Object.values(values), 'a-secret-token', ...Object.values(token)])
    expect(all).not.toContain(value);
});
