import { randomUUIDv7 } from 'node:crypto';
import type { Command } from 'commander';
import { type ApiToken, insertToken, listTokens, revokeToken } from '#db/queries/tokens.ts';
import { createApiToken, hashApiToken } from '#src/api/api-token.ts';
import { withDatabase } from '#src/cli/connect.ts';
import { act, defineCommand } from '#src/cli/frame.ts';
import { applicationId, displayName, duration, formatMoment, uuid } from '#src/cli/values.ts';
import { UsageError } from '#src/errors.ts';

const MINUTE_MS = 60_000;
const TEN_YEARS_MS = 3_650 * 24 * 60 * MINUTE_MS;

const stateOf = (token: ApiToken): 'valid' | 'expired' | 'revoked' => {
  if (token.revoked_at !== null) return 'revoked';
  return token.expires_at !== null && token.expires_at.getTime() <= Date.now() ? 'expired' : 'valid';
};

type CreateOptions = {
  json?: boolean;
  application?: string;
  operator?: true;
  name?: string;
  expires?: number;
};

const addCreate = (token: Command): void => {
  const create = defineCommand(token, 'create', {
    summary: 'make a token and show it, once',
    details: "An application's token reads that application's games, an operator's token reads all.",
    examples: [
      'token create --application acme --name "acme web server" --expires 90d',
      'token create --operator --json',
    ],
  })
    .option('--application <application_id>', 'whose games it reads', applicationId)
    .option('--operator', 'it reads all games')
    .option('--name <name>', 'what it is for (default: whose it is)', displayName)
    .option(
      '--expires <span>',
      'how long it is good for (default: until revoked)',
      duration({ minMs: MINUTE_MS, maxMs: TEN_YEARS_MS }),
    );
  act<[], CreateOptions>(create, async (context, { application, operator, name, expires }) => {
    if ((application === undefined) === (operator === undefined)) {
      throw new UsageError('Say whose token it is: --application ID or --operator.');
    }
    const secret = createApiToken();
    const made = {
      token_id: randomUUIDv7(),
      application_id: application ?? null,
      name: name ?? application ?? 'operator',
      expires_at: expires === undefined ? null : new Date(Date.now() + expires),
    };
    const inserted = await withDatabase(context, (sql) =>
      insertToken(sql, { ...made, token_hash: hashApiToken(secret) }),
    );
    if (!inserted) {
      throw new UsageError(
        `There is no application "${application}": npx catalogue app list shows those there are.`,
      );
    }
    context.out.document({ ...made, token: secret });
    context.out.line(secret);
    context.out.note(
      `Token ${made.token_id}: shown this once and stored nowhere. Send it as Authorization: Bearer <token>.`,
    );
    return undefined;
  });
};

/** `catalogue token …` */
export const register = (program: Command): void => {
  const token = program.command('token').description("Make and revoke the API's tokens.");
  addCreate(token);

  const list = defineCommand(token, 'list', { summary: 'list the tokens', examples: ['token list'] });
  act<[], { json?: boolean }>(list, async (context) => {
    const rows = await withDatabase(context, listTokens);
    const tokens = rows.map((row) => ({ ...row, state: stateOf(row) }));
    context.out.document({ tokens });
    if (tokens.length === 0) context.out.line('No token.');
    else {
      context.out.table(tokens, [
        { header: 'token_id', value: (row) => row.token_id },
        { header: 'reads', value: (row) => row.application_id ?? 'all (operator)' },
        { header: 'name', value: (row) => row.name },
        { header: 'state', value: (row) => row.state },
        { header: 'expires', value: (row) => formatMoment(row.expires_at) },
        { header: 'last used', value: (row) => formatMoment(row.last_used_at) },
      ]);
    }
    return undefined;
  });

  const revoke = defineCommand(token, 'revoke', {
    summary: 'refuse a token from its next call on',
    examples: ['token revoke 019a…'],
  }).argument('<token_id>', 'the token, as token list shows it', uuid);
  act<[string], { json?: boolean }>(revoke, async (context, _options, token_id) => {
    if (!(await withDatabase(context, (sql) => revokeToken(sql, token_id)))) {
      throw new UsageError(`There is no token ${token_id}: npx catalogue token list shows those there are.`);
    }
    context.out.document({ token_id, state: 'revoked' });
    context.out.line(`Token ${token_id} is revoked.`);
    return undefined;
  });
};
