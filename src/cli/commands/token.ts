import { randomUUIDv7 } from 'node:crypto';
import type { Command } from '@commander-js/extra-typings';
import { createToken, endToken } from '#src/actions/tokens.ts';
import { commandLineActor } from '#src/cli/kit/actor.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import { defineListCommand } from '#src/cli/kit/list-command.ts';
import { durationBetween, parseApplicationId, parseName } from '#src/cli/kit/parsers.ts';
import { unknownApplication } from '#src/cli/kit/require-application.ts';
import { parseShortId, requireId } from '#src/cli/kit/short-id.ts';
import { UsageError } from '#src/errors.ts';
import { tokenList } from '#src/lists/tokens.ts';
import { createApiToken, hashApiToken } from '#src/rules/api-token.ts';

const MINUTE_MS = 60_000;
const TEN_YEARS_MS = 3_650 * 24 * 60 * MINUTE_MS;
const parseLifetime = durationBetween(MINUTE_MS, TEN_YEARS_MS);
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS;

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
        .option('--expires <duration>', 'lifetime of the token (default: 365d)', parseLifetime),
    run: async ({ openDatabase, out }, { application, operator, name, expires }) => {
      if ((application === undefined) === (operator === undefined))
        throw new UsageError('Give the owner of the token: --application ID or --operator.');
      const secret = createApiToken();
      const row = {
        token_id: randomUUIDv7(),
        application_id: application ?? null,
        name: name ?? application ?? 'operator',
        expires_at: new Date(Date.now() + (expires ?? YEAR_MS)),
      };
      const token_hash = hashApiToken(secret);
      const sql = await openDatabase();
      if (!(await createToken(sql, commandLineActor(), { ...row, token_hash })))
        throw await unknownApplication(sql, application ?? '');
      out.answer({ ...row, token: secret }, secret);
      out.note(`Token ${row.token_id} is not shown again. Send it as Authorization: Bearer <token>.`);
      if (expires === undefined)
        out.note(`It expires in a year, at ${row.expires_at.toISOString()}: see --expires.`);
    },
  });

  defineListCommand(token, 'list', tokenList, {
    summary: 'list the tokens',
    examples: [
      'token list',
      'token list --application acme --sort expires_at',
      'token list --operator --newest',
    ],
    newest: '-created_at',
    limit: { max: 10_000, byDefault: 100 },
  });

  defineCommand(token, 'revoke', {
    summary: 'revoke a token from its next call on',
    examples: ['token revoke 019a…'],
    parameters: (command) =>
      command.argument('<token_id>', 'the token; its id may be cut short', parseShortId),
    run: async ({ openDatabase, out }, prefix) => {
      const sql = await openDatabase();
      const token_id = await requireId(sql, 'api_tokens', prefix);
      await endToken(sql, commandLineActor(), token_id);
      out.answer({ token_id, state: 'revoked' }, `Token ${token_id} is revoked.`);
    },
  });
};
