import { type Command, Option } from '@commander-js/extra-typings';
import { findOperatorItem, type Operator } from '#db/queries/operators.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { addressOf } from '#src/config.ts';
import { ROLES, type Role } from '#src/contract/roles.ts';
import { NotFoundError } from '#src/errors.ts';
import { signInUrl } from '#src/identity/links.ts';
import { operatorList } from '#src/lists/operators.ts';
import {
  addOperator,
  disableOperator,
  enableOperator,
  linkOperator,
  setRoles,
  signOutOperator,
} from '#src/operations/operators.ts';

const LOGIN = ['<login>', 'the name with which the operator signs in'] as const;
const roleOption = () =>
  new Option('--role <role...>', `a role (${ROLES.join(', ')}); may be repeated`).choices(ROLES);

const requireOperator = async (context: CommandContext, given: string): Promise<Operator> => {
  const operator = await findOperatorItem(await context.openDatabase(), given.toLowerCase());
  if (operator !== undefined) return operator;
  throw new NotFoundError('operator', given);
};

/** Prints a sign-in link. */
const showLink = (
  { out, config }: CommandContext,
  { secret, ...operator }: { login: string; roles: Role[]; secret: string },
): void => {
  const sites = { console: config.console.url, kycDesk: addressOf(config.kycDesk) };
  const sign_in_url = signInUrl(sites, { ...operator, secret });
  out.answer({ ...operator, sign_in_url }, sign_in_url);
  out.note('The link is valid once, for 15 minutes. With it, the operator sets a password.');
  const [isPublic, variable, site] = operator.roles.includes('kyc_officer')
    ? [config.kycDesk.url !== undefined, 'KYC_DESK_URL', 'the KYC desk']
    : [config.console.isPublic, 'CONSOLE_URL', 'the console'];
  if (!isPublic)
    out.note(
      `${variable} is not set: on another machine, replace ${new URL(sign_in_url).origin} with the address of ${site}.`,
    );
};

const formatOperator = (operator: Operator) => ({ ...operator, roles: operator.roles.join(', ') });

/** `catalogue operator …` */
export const register = (program: Command): void => {
  const operator = program.command('operator');

  defineCommand(operator, 'add', {
    summary: 'add an operator and print a one-time sign-in link',
    examples: [
      'operator add olga --name "Olga Petrova" --role reviewer',
      'operator add kim --role reviewer --role admin --json',
    ],
    parameters: (command) =>
      command
        .argument(...LOGIN)
        .option('--name <name>', 'the name that pages show (default: the login)')
        .addOption(roleOption().makeOptionMandatory()),
    run: async (context, login, { name, role: roles }) =>
      showLink(context, await context.operate(addOperator, { login, name, roles })),
  });

  defineListCommand(operator, 'list', operatorList, {
    summary: 'list the operators',
    examples: ['operator list', 'operator list --role reviewer --sort -last_sign_in_at'],
    newest: '-created_at',
    limit: { max: 10_000, byDefault: 100 },
  });

  defineCommand(operator, 'show', {
    summary: 'show one operator',
    examples: ['operator show olga'],
    parameters: (command) => command.argument(...LOGIN),
    run: async (context, login) => {
      const found = await requireOperator(context, login);
      context.out.record(found, formatOperator(found));
    },
  });

  defineCommand(operator, 'roles', {
    summary: 'set the roles of an operator, from the next click on',
    examples: ['operator roles olga --role reviewer --role kyc_officer'],
    parameters: (command) => command.argument(...LOGIN).addOption(roleOption().makeOptionMandatory()),
    run: async ({ operate, out }, login, { role: roles }) => {
      const set = await operate(setRoles, { login, roles });
      out.answer(set, `${set.login} is now ${set.roles.join(', ')}.`);
    },
  });

  defineCommand(operator, 'disable', {
    summary: 'end every session of an operator and refuse new ones',
    examples: ['operator disable olga', 'operator disable olga --undo'],
    parameters: (command) => command.argument(...LOGIN).option('--undo', 'let the operator sign in again'),
    run: async ({ operate, out }, given, { undo }) => {
      const operation = undo === true ? enableOperator : disableOperator;
      const { login, status } = await operate(operation, { login: given });
      out.answer({ login, status }, `${login} is ${status}.`);
    },
  });

  defineCommand(operator, 'sign-out', {
    summary: 'end every session of an operator',
    examples: ['operator sign-out olga'],
    parameters: (command) => command.argument(...LOGIN),
    run: async ({ operate, out }, login) => {
      const ended = await operate(signOutOperator, { login });
      out.answer(ended, `Sessions ended: ${ended.sessions}.`);
    },
  });

  defineCommand(operator, 'link', {
    summary: 'print a new one-time sign-in link; older ones end',
    examples: ['operator link olga'],
    parameters: (command) => command.argument(...LOGIN),
    run: async (context, login) => showLink(context, await context.operate(linkOperator, { login })),
  });
};
