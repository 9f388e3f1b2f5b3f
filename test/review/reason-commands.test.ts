import { describe, expect, it } from 'vitest';
import { documentOf, runCli } from '#test/support/cli.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const catalogue = (args: readonly string[], stdin?: string) =>
  runCli(args, asOperator(database.databaseUrl), stdin);

describe('reason add and reason retire', () => {
  it('change the list that game reject accepts', async () => {
    const code = 'gambling';
    const added = await catalogue(['reason', 'add', code, '--label', 'Games of chance', '--by', 'kim']);
    expect(added).toMatchObject({ exit: 0, stdout: 'gambling: Games of chance\n' });
    const { reasons } = documentOf(await catalogue(['reason', 'list', '--json']));
    expect(reasons.map((reason: { code: string }) => reason.code)).toEqual([
      'incomplete',
      'broken_media',
      'misleading',
      'inappropriate',
      'rights',
      'duplicate',
      'other',
      code,
    ]);
    expect((await catalogue(['reason', 'retire', code, '--by', 'kim'])).exit).toBe(0);
    expect((await catalogue(['reason', 'retire', code, '--by', 'kim'])).exit).toBe(2);
    expect((await catalogue(['reason', 'add', 'Not a code', '--label', 'x', '--by', 'kim'])).exit).toBe(2);
  });
});
