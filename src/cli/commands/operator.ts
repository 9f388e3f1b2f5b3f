import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { findOperatorItem, type Operator } from '#db/queries/operators.ts';
import { commandLineActor } from '#src/cli/kit/actor.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { parseName } from '#src/cli/kit/parsers.ts';
import { ROLES, type Role } from '#src/contract/roles.ts';
import { type CatalogueError, UsageError } from '#src/errors.ts';
import {
  addOperator,
  linkOperator,
  parseLogin,
  setRoles,
  signInUrl,
  signOutOperator,
  switchOperator,
} from '#src/identity/operators.ts';
import { operatorList } from '#src/lists/operators.ts';

const parseLoginArgument = (text: string): string => {
  try {
    return parseLogin(text);
  } catch (error) {
    throw new InvalidArgumentError((error as CatalogueError).message);
  }
};

const LOGIN = ['<login>', 'the name with which the operator signs in', parseLoginArgument] as const;
const roleOption = () =>
  new Option('--role <role...>', `a role (${ROLES.join(', ')}); may be repeated`).choices(ROLES);

const requireOperator = async (context: CommandContext, login: string): Promise<Operator> => {
  const operator = await findOperatorItem(await context.openDatabase(), login);
  if (operator !== undefined) return operator;
  throw new UsageError(`There is no operator ${login}. List them: npx catalogue operator list`);
};

/** Prints a sign-in link. */
const showLink = (
  { out, config }: CommandContext,
  login: string,
  secret: string,
  extra: object = {},
): void => {
  const sign_in_url = signInUrl(config.console.url, secret);
  out.answer({ login, ...extra, sign_in_url }, sign_in_url);
  out.note('The link is valid once, for 15 minutes. With it, the operator sets a password.');
  if (!config.console.isPublic)
    out.note(
      `CONSOLE_URL is not set: on another machine, replace ${config.console.url} with the console's address.`,
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
        .option('--name <name>', 'the name that pages show (default: the login)', parseName)
        .addOption(roleOption().makeOptionMandatory()),
    run: async (context, login, { name = login, role }) => {
      const roles = [...new Set(role as Role[])];
      const sql = await context.openDatabase();
      const secret = await addOperator(sql, commandLineActor(), { login, name, roles });
      showLink(context, login, secret, { name, roles });
    },
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
    run: async ({ openDatabase, out }, login, { role }) => {
      const roles = [...new Set(role as Role[])];
      await setRoles(await openDatabase(), commandLineActor(), login, roles);
      out.answer({ login, roles }, `${login} is now ${roles.join(', ')}.`);
    },
  });

  defineCommand(operator, 'disable', {
    summary: 'end every session of an operator and refuse new ones',
    examples: ['operator disable olga', 'operator disable olga --undo'],
    parameters: (command) => command.argument(...LOGIN).option('--undo', 'let the operator sign in again'),
    run: async ({ openDatabase, out }, login, { undo }) => {
      const status = undo === true ? 'active' : 'disabled';
      await switchOperator(await openDatabase(), commandLineActor(), login, status);
      out.answer({ login, status }, `${login} is ${status}.`);
    },
  });

  defineCommand(operator, 'sign-out', {
    summary: 'end every session of an operator',
    examples: ['operator sign-out olga'],
    parameters: (command) => command.argument(...LOGIN),
    run: async ({ openDatabase, out }, login) => {
      const sessions = await signOutOperator(await openDatabase(), commandLineActor(), login);
      out.answer({ login, sessions }, `Sessions ended: ${sessions}.`);
    },
  });

  defineCommand(operator, 'link', {
    summary: 'print a new one-time sign-in link; older ones end',
    examples: ['operator link olga'],
    parameters: (command) => command.argument(...LOGIN),
    run: async (context, login) =>
      showLink(context, login, await linkOperator(await context.openDatabase(), commandLineActor(), login)),
  });
};
