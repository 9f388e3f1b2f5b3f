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
    { key: 'token_id', title: 'Token', kind: 'id', value: ({ token_id }) => token_id },
    {
      key: 'reads',
      title: 'Reads',
      kind: 'text',
      value: ({ application_id }) => application_id ?? 'all (operator)',
    },
    { key: 'name', title: 'Name', kind: 'text', value: ({ name }) => name, sort: 'name' },
    { key: 'state', title: 'State', kind: 'status', value: stateOf },
    {
      key: 'expires',
      title: 'Expires',
      kind: 'time',
      value: ({ expires_at }) => expires_at,
      sort: 'expires_at',
    },
    {
      key: 'last_used',
      title: 'Last used',
      kind: 'age',
      value: ({ last_used_at }) => last_used_at,
      sort: 'last_used_at',
    },
  ],
  empty: 'No tokens.',
  noMatch: 'No token matches.',
  document: (row) => ({ ...row, state: stateOf(row) }),
});
