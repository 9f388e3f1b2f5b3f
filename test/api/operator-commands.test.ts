// Each command of the command line is an operation or a list of the operator API's document, and each path has a command;
// the rest says why.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '#src/api/endpoints.ts';
import { createProgram } from '#src/cli/program.ts';
import { runCli } from '#test/support/cli.ts';

/** Commands whose name is not that of their operation or list. */
const NAMES: Record<string, string[]> = {
  'app add': ['application.add'],
  'app update': ['application.update', 'event_webhook.set', 'event_webhook.remove'],
  'app list': ['application.list'],
  'app pause': ['application.pause'],
  'app resume': ['application.resume', 'application.resume_failing'],
  'app check': ['application.check'],
  'app checks': ['application.checks'],
  'app remove': ['application.remove'],
  'app hold': ['application.hold'],
  'app release': ['application.release'],
  'app unverified': ['application.unverified'],
  sync: ['run.start', 'run.start_accepting'],
  pull: ['game.pull'],
  'run accept': ['run.accept_withdrawals'],
  'kyc accept-cp-id': ['kyc.accept_cp_id'],
  'kyc show': ['kyc.reveal'],
  'queue status': ['queue.list', 'worker.list'],
  'queue retry-failed': ['queue.retry_failed'],
  'event secret rotate': ['event_secret.rotate', 'event_secret.rotate_subscription'],
  'operator sign-out': ['operator.sign_out'],
  'operator disable': ['operator.disable', 'operator.enable'],
  'approval list': ['approval.list', 'kyc.requests', 'run.requests'],
  'token revoke': ['token.revoke', 'token.revoke_own'],
  'picture backfill': ['picture.repair'],
  'picture verify': ['picture.repair'],
};

/** Commands without a path of their own, and why. */
const ALONE: Record<string, string> = {
  ...Object.fromEntries(
    ['demo', 'up', 'worker', 'api', 'console', 'media', 'kyc-desk', 'migrate', 'completion'].map((name) => [
      name,
      'runs a process, or is about the command line itself',
    ]),
  ),
  'openapi platform': 'the documents are served',
  'openapi operator': 'the documents are served',
  'openapi application': 'the documents are served',
  apply:
    'reads files; it is application.add, application.update, application.remove, reason.add and reason.retire',
  'app export': 'writes what application.list and reason.list have',
  'app show': 'application.list has the same fields',
  'run show': 'run.list has the same fields',
  'event show': 'event.deliveries has the same fields',
  'operator show': 'operator.list has the same fields',
  'game diff': 'for a person: it marks words',
  'game why': 'for a person: it tells a story',
  'game review': 'for a person: it asks game by game',
  'game export': 'streams a file',
  'decision export': 'streams a file',
  'game recount': 'repairs counters, with a right of Postgres that the operator API has not',
  'audit verify': 'reads the whole log: its result must not come from what it verifies',
};

/** What an operator does in person, at a page or on the command line. */
const IN_PERSON = [
  'approval.approve',
  'game.import',
  'kyc.accept_cp_id',
  'kyc.erase',
  'kyc.reseal',
  'kyc.reveal',
  'kyc.verdict',
  'operator.add',
  'operator.enable',
  'operator.link',
  'operator.password',
  'operator.roles',
  'operator.single_keys',
  'session.end',
];

const commands = async (): Promise<string[]> => {
  const { stdout, stderr, stdin } = process;
  const stdio = { stdout, stderr, stdin };
  const invocation = { stdio, argv: [], readEnvironment: async () => ({}), exitCode: 0 };
  const program = await createProgram(() => true, invocation as never);
  const walk = (command: CommandUnknownOpts, path: string[]): string[] =>
    command.commands.length === 0
      ? [path.join(' ')]
      : command.commands.flatMap((each) => walk(each, [...path, each.name()]));
  return program.commands.flatMap((each) => walk(each, [each.name()]));
};

/** The name that a command has if the tables do not say otherwise. */
const nameOf = (command: string): string => command.replaceAll('-', '_').replace(' ', '.');

test('each command has its path or a reason, and each path its command', async () => {
  const names = new Set(ENDPOINTS.map(({ name }) => name));
  const all = await commands();
  expect(all.length).toBeGreaterThan(60);
  const pathsOf = (command: string): string[] =>
    command in ALONE ? [] : (NAMES[command] ?? [nameOf(command)]);
  expect(all.filter((command) => pathsOf(command).some((name) => !names.has(name)))).toEqual([]);
  for (const command of [...Object.keys(NAMES), ...Object.keys(ALONE)]) expect(all).toContain(command);
  // No reason stands for a path that exists.
  expect(Object.keys(ALONE).filter((command) => names.has(nameOf(command)))).toEqual([]);
  const found = new Set(all.flatMap(pathsOf));
  // A person at a page: they sign in there.
  expect([...names].filter((name) => !found.has(name)).toSorted()).toEqual([
    'approval.approve',
    'approval.cancel',
    'approval.decline',
    'approval.request',
    'operator.password',
    'operator.single_keys',
    'session.end',
  ]);
});

test('the document has each of these paths, but for those that refuse every token', async () => {
  const { stdout } = await runCli(['openapi', 'operator'], {});
  const { paths } = JSON.parse(stdout) as { paths: Record<string, { post: { operationId: string } }> };
  const served = ENDPOINTS.filter(({ answer }) => answer !== undefined);
  expect(Object.keys(paths).toSorted()).toEqual(served.map(({ path }) => path).toSorted());
  const ids = Object.values(paths).map(({ post }) => post.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const inPerson = ENDPOINTS.filter(({ answer }) => answer === undefined).map(({ name }) => name);
  expect(inPerson.toSorted()).toEqual(IN_PERSON);
});
