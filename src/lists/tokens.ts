import { z } from 'zod';
import { type ApiToken, listTokenPage, TOKEN_SORTS } from '#db/queries/tokens.ts';
import { flag, ofApplication, search } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

const stateOf = ({ revoked_at, expires_at }: ApiToken): 'valid' | 'expired' | 'revoked' => {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && expires_at.getTime() <= Date.now() ? 'expired' : 'valid';
};

/** The API's tokens, without what they are. */
export const tokenList = defineList({
  name: 'token.list',
  nouns: ['token', 'tokens'],
  right: 'manage_applications',
  filter: z
    .object({
      application_id: ofApplication('only tokens of this application'),
      operator: flag({ name: 'operator', title: 'Of operators', description: 'only tokens of operators' }),
      search: search('the name'),
    })
    .refine(
      ({ application_id, operator }) => application_id === undefined || !operator,
      'Give --application ID or --operator, not both.',
    ),
  sorts: TOKEN_SORTS,
  order: 'created_at',
  read: (sql, { operator, ...filter }, page) =>
    listTokenPage(sql, operator ? { ...filter, application_id: null } : filter, page),
  columns: [
    { key: 'token_id', title: 'Token', kind: 'id' },
    { key: 'reads', value: ({ application_id }) => application_id ?? 'all (operator)' },
    { key: 'name', sort: 'name' },
    { key: 'state', kind: 'status', value: stateOf },
    { key: 'expires', kind: 'time', value: (row) => row.expires_at, sort: 'expires_at' },
    { key: 'last_used', kind: 'age', value: (row) => row.last_used_at, sort: 'last_used_at' },
  ],
  empty: 'No tokens.',
  noMatch: 'No token matches.',
  document: (row) => ({ ...row, state: stateOf(row) }),
});
