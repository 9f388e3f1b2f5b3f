import { randomUUIDv7 } from 'node:crypto';
import type { Command } from '@commander-js/extra-typings';
import { type ApiToken, insertToken, listTokens, revokeToken } from '#db/queries/tokens.ts';
import { createApiToken, hashApiToken } from '#src/api/api-token.ts';
import { defineCommand } from '#src/cli/command.ts';
import { durationBetween, parseApplicationId, parseName, parseUuid } from '#src/cli/parsers.ts';
import { unknownApplication } from '#src/cli/require-application.ts';
import { UsageError } from '#src/errors.ts';

const MINUTE_MS = 60_000;
const TEN_YEARS_MS = 3_650 * 24 * 60 * MINUTE_MS;
const parseLifetime = durationBetween(MINUTE_MS, TEN_YEARS_MS);

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
        .option('--name <name>', 'purpose of the token (default: its application, or "operator")', parseName)
        .option('--expires <duration>', 'lifetime of the token (default: unlimited)', parseLifetime),
    run: async ({ openDatabase, out }, { application, operator, name, expires }) => {
      if ((application === undefined) === (operator === undefined))
        throw new UsageError('Give the owner of the token: --application ID or --operator.');
      const secret = createApiToken();
      const row = {
        token_id: randomUUIDv7(),
        application_id: application ?? null,
        name: name ?? application ?? 'operator',
        expires_at: expires === undefined ? null : new Date(Date.now() + expires),
      };
      const token_hash = hashApiToken(secret);
      if (!(await insertToken(await openDatabase(), { ...row, token_hash })))
        throw unknownApplication(application ?? '');
      out.answer({ ...row, token: secret }, secret);
      out.note(`Token ${row.token_id} is not shown again. Send it as Authorization: Bearer <token>.`);
    },
  });

  defineCommand(token, 'list', {
    summary: 'list the tokens',
    examples: ['token list'],
    run: async ({ openDatabase, out }) => {
      const rows = await listTokens(await openDatabase());
      const tokens = rows.map((row) => ({ ...row, state: stateOf(row) }));
      out.list(
        { tokens },
        tokens,
        ['token_id', ['reads', formatScope], 'name', 'state', 'expires_at', 'last_used_at'],
        'No tokens.',
      );
    },
  });

  defineCommand(token, 'revoke', {
    summary: 'revoke a token from its next call on',
    examples: ['token revoke 019a…'],
    parameters: (command) => command.argument('<token_id>', 'the token', parseUuid),
    run: async ({ openDatabase, out }, token_id) => {
      if (!(await revokeToken(await openDatabase(), token_id)))
        throw new UsageError(`There is no token ${token_id}. List them: npx catalogue token list`);
      out.answer({ token_id, state: 'revoked' }, `Token ${token_id} is revoked.`);
    },
  });
};
