import { setImmediate as nextTurn } from 'node:timers/promises';
import type postgres from 'postgres';

/**
 * Reads the stack of the Error that postgres.js keeps of the first call of each statement, because V8 keeps the functions
 * of its frames, and what they close over, such as the first KYC record of a process, until the stack is read as a text.
 */
const releaseFrames = (statement: object): object => {
  if ('origin' in statement) void statement.origin;
  return statement;
};

/**
 * Stops work that goes on after its transaction has rejected.
 *
 * If the connection closes, postgres.js 3.4.9 rejects `begin`, but still writes to the closed connection, so a statement of
 * the work, `rollback` or `commit` throws outside any promise, which ends the process. Here, once `begin` has rejected, a
 * statement of the work throws to its caller, and nothing is sent.
 */
export const guardTransactions = (sql: postgres.Sql): postgres.Sql => {
  const begin = sql.begin.bind(sql) as (
    options: string,
    work: (tx: postgres.TransactionSql) => Promise<unknown>,
  ) => Promise<unknown>;

  const guardedBegin = (
    ...args: [...options: string[], (tx: postgres.TransactionSql) => unknown]
  ): Promise<unknown> => {
    let work = args.pop() as ((tx: postgres.TransactionSql) => unknown) | undefined;
    let hasFailed = false;
    const transaction = begin((args as string[])[0] ?? '', async (tx) => {
      try {
        const returned = work?.(refuseWhen(tx, () => hasFailed));
        // The Error of the driver's own first `commit` keeps this function.
        work = undefined;
        const result = await (Array.isArray(returned) ? Promise.all(returned) : returned);
        return hasFailed ? never() : result;
      } catch (error) {
        // A statement can reject one turn before its connection is closed.
        await nextTurn();
        return hasFailed ? never() : Promise.reject(error);
      }
    });
    transaction.catch(() => {
      hasFailed = true;
    });
    return transaction;
  };
  return new Proxy(Object.assign(sql, { begin: guardedBegin as typeof sql.begin }), {
    apply: (target, self, args) => releaseFrames(Reflect.apply(target, self, args)),
  });
};

/** Never resolves, because a result would make the driver write to the closed connection. */
const never = (): Promise<never> => new Promise(() => {});

const refuseWhen = (tx: postgres.TransactionSql, hasFailed: () => boolean): postgres.TransactionSql => {
  const requireAlive = () => {
    if (hasFailed()) {
      throw Object.assign(new Error('This transaction has failed, or its connection is closed.'), {
        code: 'CONNECTION_CLOSED',
      });
    }
  };
  return new Proxy(tx, {
    apply: (target, self, args) => {
      requireAlive();
      return releaseFrames(Reflect.apply(target, self, args));
    },
    get: (target, name) => {
      requireAlive();
      return Reflect.get(target, name);
    },
  });
};
