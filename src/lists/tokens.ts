import { z } from 'zod';
import { listTokenPage, TOKEN_SORTS } from '#db/queries/tokens.ts';
import { operatorRoles, time } from '#src/contract/documents.ts';
import { exactly, ofApplication, search } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

/** The API's tokens, without their hashes. */
export const tokenList = defineList({
  name: 'token.list',
  nouns: ['token', 'tokens'],
  right: 'manage_applications',
  row: z.object({
    token_id: z.guid(),
    application_id: z.string().nullable(),
    login: z.string().nullable(),
    roles: operatorRoles.nullable(),
    name: z.string(),
    created_at: time,
    expires_at: time.nullable(),
    revoked_at: time.nullable(),
    last_used_at: time.nullable(),
    state: z.enum(['valid', 'expired', 'revoked']),
  }),
  filter: z.object({
    application_id: ofApplication('only tokens of this application'),
    login: exactly({ name: 'operator', title: 'Operator', description: 'only tokens of this operator' }),
    search: search('the name'),
  }),
  sorts: TOKEN_SORTS,
  order: 'created_at',
  read: listTokenPage,
  columns: [
    { key: 'token_id', title: 'Token', kind: 'id' },
    {
      key: 'owner',
      value: ({ application_id, login }) => application_id ?? `operator ${login}`,
      note: ({ roles }) => roles?.join(', ') ?? null,
    },
    { key: 'roles', value: ({ roles }) => roles?.join(', ') ?? null },
    { key: 'name', sort: 'name' },
    { key: 'state', kind: 'status' },
    { key: 'expires', kind: 'time', value: (row) => row.expires_at, sort: 'expires_at', on: 'terminal' },
    {
      key: 'ends',
      title: 'Expires',
      kind: 'age',
      value: (row) => row.expires_at,
      sort: 'expires_at',
      on: 'page',
    },
    { key: 'last_used', kind: 'age', value: (row) => row.last_used_at, sort: 'last_used_at' },
  ],
  empty: 'No tokens.',
  noMatch: 'No token matches.',
});
