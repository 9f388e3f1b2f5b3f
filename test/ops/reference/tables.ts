import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { openDatabase } from '#db/client.ts';
import { TABLE_RIGHTS } from '#db/table-rights.ts';
import { createProgram } from '#src/cli/program.ts';
import { WHYS } from '#src/contract/events.ts';
import { CODES, OWN_KINDS } from '#src/contract/failure-words.ts';
import { PLATFORM_FAILURES } from '#src/contract/platform-codes.ts';
import { RIGHTS, ROLES } from '#src/contract/roles.ts';
import { EXIT } from '#src/errors.ts';
import { addFleetMetrics } from '#src/metrics/fleet-metrics.ts';
import { createProcessMetrics } from '#src/metrics/process-metrics.ts';
import { addQueueMetrics } from '#src/metrics/queue-metrics.ts';
import { KINDS } from '#src/site/explain-failure.ts';
import { budgets } from '#test/ops/reference/budgets.ts';
import { readEnvironment } from '#test/ops/reference/environment.ts';
import { code, type Table } from '#test/ops/reference/table.ts';
import { ATTACKS } from '#test/privilege/attacks.ts';

const inWords = (name: string): string => name.replaceAll('_', ' ');

/** A command and those below it, without `help`. */
const walk = (command: CommandUnknownOpts, path: string): string[][] =>
  command.commands.length > 0
    ? command.commands
        .filter((each) => each.name() !== 'help')
        .flatMap((each) => walk(each, `${path} ${each.name()}`))
    : [[code(`${path} ${command.usage()}`.replace(' [options]', '').trim()), command.summary()]];

const readCommands = async (): Promise<Table> => {
  const program = await createProgram(() => true, {
    stdio: process,
    argv: [],
    readEnvironment: async () => ({}),
    exitCode: EXIT.done,
  });
  return {
    title: 'Commands',
    intro: `\`catalogue COMMAND --help\` shows the options and examples. Every command takes \`--json\`. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 partial or suspect, 4 already running, 130 interrupted.`,
    head: ['command', 'what it does'],
    rows: program.commands
      .filter((each) => each.name() !== 'help')
      .flatMap((each) => walk(each, each.name())),
  };
};

const failures: Table = {
  title: 'Failures of applications',
  intro: `\`failure list\`, the console and the portal show these kinds. Codes of fields: ${Object.entries(
    CODES,
  )
    .map(([name, meaning]) => `${code(name)} (${meaning})`)
    .join(', ')}.`,
  head: ['kind', 'meaning'],
  rows: [
    ...Object.entries(KINDS).map(([kind, meaning]) => [code(kind), meaning]),
    ...Object.entries(OWN_KINDS).map(([kind, meaning]) => [
      code(kind),
      `A fault of the platform: ${meaning}`,
    ]),
  ],
};

const apiCodes: Table = {
  title: 'Codes of the API',
  intro: 'The HTTP status is `ret_code` without its last two digits.',
  head: ['ret_code', 'meaning'],
  rows: Object.values(PLATFORM_FAILURES).map(({ ret_code, meaning }) => [String(ret_code), meaning]),
};

const events: Table = {
  title: 'Reasons of events',
  intro: '`why` of an event of a game.',
  head: ['why', 'what happened'],
  rows: Object.entries(WHYS).map(([why, meaning]) => [code(why), meaning]),
};

const operators: Table = {
  title: 'Roles of operators',
  intro: 'Everybody who signs in may change their own password and end their own sessions.',
  head: ['right', ...ROLES.map(inWords)],
  rows: Object.entries(RIGHTS).map(([right, roles]) => [
    inWords(right),
    ...ROLES.map((role) => ((roles as readonly string[]).includes(role) ? 'yes' : '')),
  ]),
};

const rights: Table = {
  title: 'Rights of database roles',
  intro: '`migrate` grants these (`db/table-rights.ts`). A role that is missing has no right on the table.',
  head: ['table', 'role', 'rights'],
  rows: Object.entries(TABLE_RIGHTS).flatMap(([table, ofRoles]) =>
    Object.entries(ofRoles).map(([role, verbs]) => [code(table), role, code(verbs)]),
  ),
};

const attacks: Table = {
  title: 'What database roles may do',
  intro:
    'Of what an attacker would try with the login of a process, `test/privilege/matrix.test.ts` tries each.',
  head: ['statement', 'roles that may'],
  rows: ATTACKS.map(({ what, allowed }) => [what, allowed.join(', ') || 'none']),
};

/** The metrics of a process, without Node's own. Nothing is collected, so nothing connects. */
const readMetrics = async (): Promise<Table> => {
  using metrics = createProcessMetrics('worker');
  await using sql = openUnused();
  addFleetMetrics(metrics.registry, sql.database);
  addQueueMetrics(metrics.registry, [], { ping: async () => {}, probe: async () => {} });
  const all = metrics.registry.getMetricsAsArray() as unknown as {
    name: string;
    help: string;
    type: string;
    labelNames: string[];
  }[];
  return {
    title: 'Metrics',
    intro:
      "Every process serves these and Node's own at `/metrics`, each with the name of its `process`. Figures of the fleet are the same from every process: use `max without (instance, process)`.",
    head: ['metric', 'type', 'labels', 'meaning'],
    rows: all
      .filter(({ name }) => /^(catalogue|bullmq)_/.test(name))
      .map(({ name, type, labelNames, help }) => [code(name), type, labelNames.join(', '), help])
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  };
};

/** A pool that never connects. */
const openUnused = () => {
  const database = openDatabase('postgres://127.0.0.1/unused', { max: 1 });
  return { database, [Symbol.asyncDispose]: () => database.end() };
};

/** The tables of docs/reference.md, in their order. */
export const readTables = async (): Promise<Table[]> => [
  await readCommands(),
  await readEnvironment(),
  failures,
  apiCodes,
  events,
  budgets,
  operators,
  rights,
  attacks,
  await readMetrics(),
];
