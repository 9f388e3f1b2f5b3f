import { randomBytes } from 'node:crypto';
import { API_TOKEN_BYTES, formatApiToken } from '#src/rules/api-token.ts';

/** Creates a random API token. */
export const createApiToken = (): string => formatApiToken(randomBytes(API_TOKEN_BYTES));
