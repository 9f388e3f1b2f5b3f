// `apply` of wrong files changes nothing, of applications that are there and of new ones.
import { beforeAll, expect, test } from 'vitest';
import { application, FILE, OTHER_SETTINGS, useApply } from '#test/cli/apply-home.ts';
import { everyRow } from '#test/support/stored.ts';

const { database, apply } = useApply();
beforeAll(() => apply(FILE));

const WRONG: [what: string, text: string, ...says: string[]][] = [
  ['no YAML', 'applications: [', 'line 1: '],
  [
    'a field that is none',
    FILE.replace('every:', 'evry:'),
    'line 8: applications.acme has no field evry (fields: name, ',
  ],
  ['a wrong value', FILE.replace('30m', '30 parsecs'), 'line 8: applications.acme.every must be a duration'],
  ['no name', FILE.replace('    name: mizu Games\n', ''), 'line 9: applications.mizu.name '],
  [
    'a wrong id',
    FILE.replace('  mizu:', '  MIZU!:'),
    'line 9: applications.MIZU! must be lower-case letters',
  ],
  [
    'a part that is none',
    FILE.replace('applications:', 'application:'),
    'line 1: the file has no field application',
  ],
  [
    'a missing file of a token',
    FILE.replace('acme.token', 'none.token'),
    'acme: access_token_file none.token cannot be read (ENOENT)',
  ],
  ['an unset variable', FILE.replace('OTHERS_TOKEN', 'NO_TOKEN'), 'mizu: access_token_env NO_TOKEN is empty'],
  [
    'a setting of the platform as a token, which would be sent to the application',
    FILE.replace('OTHERS_TOKEN', 'DATABASE_URL_OPERATOR'),
    'mizu: access_token_env DATABASE_URL_OPERATOR is a setting of the platform',
  ],
  [
    'the file of such a setting',
    FILE.replace('acme.token', 'password'),
    'acme: access_token_file password is a setting of the platform',
  ],
  ...Object.keys(OTHER_SETTINGS).map((name): (typeof WRONG)[number] => [
    `a setting that is read as ${name}`,
    FILE.replace('OTHERS_TOKEN', name),
    `mizu: access_token_env ${name} is a setting of the platform`,
  ]),
  ...[
    'one-line.env',
    'aws-token',
    'docker-password',
    'one-key',
    'telemetry-key',
    'another-key',
    'keys',
    'postgres.json',
  ].map((name): (typeof WRONG)[number] => [
    `the file ${name}, with a secret of the platform`,
    FILE.replace('acme.token', name),
    `acme: access_token_file ${name} is a setting of the platform`,
  ]),
  ...['acme.api-token', 'token.env'].map((name): (typeof WRONG)[number] => [
    `the file ${name}, with an API token of the platform`,
    FILE.replace('acme.token', name),
    `acme: access_token_file ${name} is an API token of the platform`,
  ]),
  [
    'a variable that is none',
    FILE.replace('OTHERS_TOKEN', '__proto__'),
    'access_token_env __proto__ is empty',
  ],
  [
    'a file without an end as a token',
    FILE.replace('acme.token', '/dev/zero'),
    'acme: access_token_file /dev/zero is not one line of visible ASCII characters',
  ],
  ['a pipe as a token', FILE.replace('acme.token', 'pipe'), 'acme: access_token_file pipe is empty'],
  [
    'aliases of aliases',
    Array.from({ length: 9 }, (_, n) => `k${n}: &k${n} [${n === 0 ? 'x' : `*k${n - 1},`.repeat(9)}]\n`).join(
      '',
    ),
    'catalogue.yaml: Excessive alias count',
  ],
  [
    'a new application without a token',
    `${application('new')}`.replace(/^/, 'applications:\n'),
    'new is new: give it access_token_file',
  ],
  [
    'the same id twice',
    `applications:\n${application('acme')}${application('acme')}`,
    'line 7: Map keys must be unique',
  ],
  ['an id that JavaScript does not take', FILE.replace('  acme:', '  __proto__:'), '__proto__ is no id'],
  [
    'a file of wrong lines',
    `applications:\n${Array.from({ length: 100 }, (_, n) => `  a${n}: 1\n`).join('')}`,
    'line 21: applications.a19 must be a JSON object\nand 80 more\nNothing was changed.',
  ],
  [
    'a file of 100,000 wrong ids, which the library would compare with each other for a quarter of an hour,',
    `reasons:\n${Array.from({ length: 100_000 }, (_, n) => `  r${n}: 1\n`).join('')}`,
    'and 99980 more\nNothing was changed.',
  ],
];
test.each(WRONG)('%s changes nothing, and the line and the field are named', async (_what, text, ...says) => {
  const before = await everyRow(database.sql);
  const { exit, stderr, stdout } = await apply(text.replace('name: acme Games', 'name: Changed'));
  expect([exit, stdout]).toEqual([2, '']);
  for (const each of says) expect(stderr).toContain(each);
  expect(await everyRow(database.sql)).toEqual(before);
});

test('a file that is no UTF-8 changes nothing', async () => {
  const { exit, stderr } = await apply(Buffer.from(FILE.replace('acme Games', '\xff'), 'latin1'));
  expect([exit, stderr]).toEqual([
    2,
    expect.stringContaining('cannot be read: The encoded data was not valid'),
  ]);
});
