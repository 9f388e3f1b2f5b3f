// Each command of the command line is an operation or a list of the operator API, and each path has a command; the rest
// says why.
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '#src/api/endpoints.ts';
import { createProgram } from '#src/cli/program.ts';

/** Commands whose name is not that of their operation or list. */
const NAMES: Record<string, string[]> = {
  'app add': ['application.add'],
  'app update': ['application.update'],
  'app list': ['application.list'],
  'app pause': ['application.pause'],
  'app resume': ['application.resume', 'application.resume_failing'],
  'app check': ['application.check'],
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
  'event secret rotate': ['event_secret.rotate'],
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

test('each command has its path or a reason, and each path its command', async () => {
  const names = new Set(ENDPOINTS.map(({ name }) => name));
  const found = new Set<string>();
  const missing: string[] = [];
  const all = await commands();
  expect(all.length).toBeGreaterThan(60);
  for (const command of all) {
    const own = NAMES[command] ?? [command.replaceAll('-', '_').replace(' ', '.')];
    if (command in ALONE) continue;
    if (own.every((name) => names.has(name))) for (const name of own) found.add(name);
    else missing.push(command);
  }
  expect(missing).toEqual([]);
  for (const command of [...Object.keys(NAMES), ...Object.keys(ALONE)]) expect(all).toContain(command);
  const without = [...names].filter((name) => !found.has(name));
  // A person at a page: they sign in there.
  expect(without.toSorted()).toEqual([
    'approval.approve',
    'approval.cancel',
    'approval.decline',
    'approval.request',
    'operator.password',
    'session.end',
  ]);
});
