import type { Database } from '#db/client.ts';
import { type DatabaseRole, roleName } from '#db/roles.ts';
import { INSUFFICIENT_PRIVILEGE } from '#db/sqlstate.ts';

const SYNTAX_ERROR = '42601';
/** A lack of rights; a view that takes no writes; a statement that no view knows. */
const REFUSALS = [INSUFFICIENT_PRIVILEGE, '55000', '42809'];
const codeOf = (error: unknown) => (error as { code?: string }).code;

/** Can the role run this statement, in the one connection of `session`? Every error but those of `REFUSALS` means that it can. */
export const mayRun = async (session: Database, role: DatabaseRole, statement: string): Promise<boolean> => {
  await session.unsafe(`set role ${roleName(role)}`);
  try {
    await session.begin(async (tx) => {
      await tx.unsafe(statement);
      throw new Error('rolled back');
    });
  } catch (error) {
    if (codeOf(error) === SYNTAX_ERROR) throw error;
    return !REFUSALS.includes(codeOf(error) ?? '');
  } finally {
    await session.unsafe('reset role');
  }
  throw new Error('the transaction was not rolled back');
};
