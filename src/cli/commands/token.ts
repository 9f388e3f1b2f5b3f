import type { Command } from '@commander-js/extra-typings';
import { type ApiToken, listTokenPage, TOKEN_SORTS } from '#db/queries/tokens.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineList } from '#src/cli/kit/list-command.ts';
import { parseApplicationId, searchIn } from '#src/cli/kit/parsers.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { UsageError } from '#src/errors.ts';
import { createToken, revokeApiToken } from '#src/operations/tokens.ts';

const stateOf = (token: ApiToken): 'valid' | 'expired' | 'revoked' => {
  if (token.revoked_at !== null) return 'revoked';
  return token.expires_at !== null && token.expires_at.getTime() <= Date.now() ? 'expired' : 'valid';
};

const formatScope = ({ application_id }: ApiToken): string => application_id ?? 'all (operator)';

/** `catalogue token …` */
export const register = (program: Command): void => {
  const token = program.command('token');

  defineCommand(token, 'create', {
    summary: 'create a token and print it once',
    details: 'The token of an application reads the games of that application, the token of an operator all.',
    examples: ['token create --application acme --name web --expires 90d', 'token create --operator --json'],
    parameters: (command) =>
      command
        .option('--application <application_id>', 'create a token of this application', parseApplicationId)
        .option('--operator', 'create a token of an operator')
        .option('--name <name>', 'purpose of the token (default: its application, or "operator")')
        .option('--expires <duration>', 'lifetime of the token (default: 365d)'),
    run: async ({ operate, out }, { application, operator, name, expires }) => {
      if ((application === undefined) === (operator === undefined))
        throw new UsageError('Give the owner of the token: --application ID or --operator.');
      const application_id = application ?? null;
      const { token: secret, ...row } = await operate(createToken, { application_id, name, expires });
      out.answer({ ...row, token: secret }, secret);
      out.note(`Token ${row.token_id} is not shown again. Send it as Authorization: Bearer <token>.`);
      if (expires === undefined)
        out.note(`It expires in a year, at ${row.expires_at.toISOString()}: see --expires.`);
    },
  });

  defineList(token, 'list', {
    summary: 'list the tokens',
    examples: [
      'token list',
      'token list --application acme --sort expires_at',
      'token list --operator --newest',
    ],
    parameters: (command) =>
      command
        .option('--application <application_id>', 'only tokens of this application', parseApplicationId)
        .option('--operator', 'only tokens of operators')
        .option(...searchIn('the name')),
    order: 'created_at',
    newest: '-created_at',
    sorts: TOKEN_SORTS,
    limit: { max: 10_000, byDefault: 100 },
    filter: ({ application, operator, search }) => {
      if (application !== undefined && operator !== undefined)
        throw new UsageError('Give --application ID or --operator, not both.');
      return { application_id: operator === true ? null : application, search };
    },
    list: listTokenPage,
    key: 'tokens',
    toDocument: (row) => ({ ...row, state: stateOf(row) }),
    columns: ['token_id', ['reads', formatScope], 'name', ['state', stateOf], 'expires_at', 'last_used_at'],
    empty: 'No tokens.',
  });

  defineCommand(token, 'revoke', {
    summary: 'revoke a token from its next call on',
    examples: ['token revoke 019a…'],
    parameters: (command) =>
      command.argument('<token_id>', 'the token; its id may be cut short', parseShortId),
    run: async ({ openDatabase, operate, out }, prefix) => {
      const token_id = await requireId(await openDatabase(), 'api_tokens', prefix);
      out.answer(await operate(revokeApiToken, { token_id }), `Token ${token_id} is revoked.`);
    },
  });
};
