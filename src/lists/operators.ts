import { z } from 'zod';
import { listOperatorPage, OPERATOR_SORTS } from '#db/queries/operators.ts';
import { count, operatorRoles, time } from '#src/contract/documents.ts';
import { OPERATOR_STATUSES, ROLES } from '#src/contract/roles.ts';
import { choice, search } from '#src/lists/filters.ts';
import { defineList } from '#src/lists/list.ts';

export const operatorList = defineList({
  name: 'operator.list',
  nouns: ['operator', 'operators'],
  right: 'manage_operators',
  row: z.object({
    login: z.string(),
    name: z.string(),
    roles: operatorRoles,
    status: z.enum(OPERATOR_STATUSES),
    created_at: time,
    last_sign_in_at: time.nullable(),
    signs_in_by: z.enum(['password', 'oidc', 'link']),
    open_sessions: count,
  }),
  filter: z.object({
    role: choice(ROLES, { name: 'role', title: 'Role', description: 'only operators with this role' }),
    status: choice(OPERATOR_STATUSES, { name: 'status', title: 'State', description: 'only these' }),
    search: search('the login or the name'),
  }),
  sorts: OPERATOR_SORTS,
  order: 'login',
  columns: [
    { key: 'login', title: 'Operator', kind: 'id', label: ({ name }) => name, sort: 'login' },
    { key: 'name', on: 'terminal' },
    { key: 'roles', value: ({ roles }) => roles.join(', ') },
    { key: 'status', title: 'State', kind: 'status' },
    { key: 'signs_in_by', width: 'wide' },
    { key: 'sessions', kind: 'number', value: (row) => row.open_sessions, width: 'wider' },
    {
      key: 'last_sign_in',
      title: 'Last sign-in',
      kind: 'age',
      value: (row) => row.last_sign_in_at,
      sort: 'last_sign_in_at',
      width: 'medium',
    },
  ],
  empty: 'No operators. Add one: npx catalogue operator add --help',
  noMatch: 'No operator matches.',
  read: listOperatorPage,
});
