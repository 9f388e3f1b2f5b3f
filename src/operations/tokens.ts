/** API tokens: create, revoke. */
import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import { insertToken, revokeToken } from '#db/queries/tokens.ts';
import { applicationId, displayName, duration } from '#src/contract/application-settings.ts';
import { NotFoundError } from '#src/errors.ts';
import { createApiToken } from '#src/identity/create-api-token.ts';
import { defineOperation } from '#src/operations/operation.ts';
import { hashApiToken } from '#src/rules/api-token.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const TOKEN_LIFETIME = '365d';

const tokenSubject = ({ token_id }: { token_id: string }): string => `token:${token_id}`;

export const createToken = defineOperation({
  name: 'token.create',
  title: 'Create an API token',
  right: 'manage_applications',
  input: z.object({
    /** It reads the games of this application. Null: a token of an operator, which reads all. */
    application_id: applicationId.nullable(),
    /** Its purpose. Absent: its application, or `operator`. */
    name: displayName.optional(),
    expires: duration(MINUTE_MS, 3_650 * DAY_MS).prefault(TOKEN_LIFETIME),
  }),
  subject: ({ application_id }) => `application:${application_id ?? '*'}`,
  run: async (tx, { application_id, name = application_id ?? 'operator', expires }) => {
    const token = createApiToken();
    const expires_at = new Date(Date.now() + expires);
    const row = { token_id: randomUUIDv7(), application_id, name, expires_at };
    if (!(await insertToken(tx, { ...row, token_hash: hashApiToken(token) })))
      throw new NotFoundError('application', application_id ?? '');
    /** The token is shown only now. */
    return { ...row, token };
  },
  log: ({ token_id, token: _token, ...details }) => ({ subject: tokenSubject({ token_id }), details }),
});

export const revokeApiToken = defineOperation({
  name: 'token.revoke',
  title: 'Revoke an API token',
  right: 'manage_applications',
  input: z.object({ token_id: z.guid().toLowerCase() }),
  subject: tokenSubject,
  run: async (tx, { token_id }) => {
    if (await revokeToken(tx, token_id)) return { token_id, state: 'revoked' as const };
    throw new NotFoundError('token', token_id);
  },
});
