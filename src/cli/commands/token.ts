import { type Command, Option } from '@commander-js/extra-typings';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { parseApplicationId } from '#src/cli/kit/parsers.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { ROLES } from '#src/contract/roles.ts';
import { UsageError } from '#src/errors.ts';
import { tokenList } from '#src/lists/tokens.ts';
import { createToken, revokeApiToken } from '#src/operations/tokens.ts';

/** `catalogue token …` */
export const register = (program: Command): void => {
  const token = program.command('token');

  defineCommand(token, 'create', {
    summary: 'create a token and print it once',
    details:
      'The token of an application reads the games of that application. The token of an operator reads all, and does at the operator API what the operator may do, with at most the given roles. It ends with the operator.',
    examples: [
      'token create --application acme --name web --expires 90d',
      'token create --operator deploy-bot --role admin --expires 30d --json',
    ],
    parameters: (command) =>
      command
        .option('--application <application_id>', 'create a token of this application', parseApplicationId)
        .option('--operator <login>', 'create a token that acts as this operator')
        .addOption(
          new Option('--role <role...>', 'a role of the token (default: all that the operator has)').choices(
            ROLES,
          ),
        )
        .option('--name <name>', 'purpose of the token (default: its application or its operator)')
        .option('--expires <duration>', "lifetime of the token (default: 365d, an operator's 90d)"),
    run: async ({ operate, out }, { application, operator, role, name, expires }) => {
      if ((application === undefined) === (operator === undefined))
        throw new UsageError('Give the owner of the token: --application ID or --operator LOGIN.');
      const owner = { application_id: application, login: operator, roles: role };
      const { token: secret, ...row } = await operate(createToken, { ...owner, name, expires });
      out.answer({ ...row, token: secret }, secret);
      out.note(`Token ${row.token_id} is not shown again. Send it as Authorization: Bearer <token>.`);
      if (expires === undefined) out.note(`It expires at ${row.expires_at.toISOString()}: see --expires.`);
    },
  });

  defineListCommand(token, 'list', tokenList, {
    summary: 'list the tokens',
    examples: [
      'token list',
      'token list --application acme --sort expires_at',
      'token list --operator deploy-bot --newest',
    ],
    newest: '-created_at',
    limit: { max: 10_000, byDefault: 100 },
  });

  defineCommand(token, 'revoke', {
    summary: 'revoke a token from its next call on',
    examples: ['token revoke 019a…'],
    parameters: (command) =>
      command.argument('<token_id>', 'the token; its id may be cut short', parseShortId),
    run: async ({ openDatabase, operate, out }, prefix) => {
      const token_id = await requireId(await openDatabase(), 'api_tokens', prefix);
      const { state } = await operate(revokeApiToken, { token_id });
      out.answer({ token_id, state }, `Token ${token_id} is revoked.`);
    },
  });
};
