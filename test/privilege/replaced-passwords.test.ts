import { expect, it } from 'vitest';
import { openDatabase } from '#db/client.ts';
import { INVALID_PASSWORD } from '#db/sqlstate.ts';
import { runCli } from '#test/support/cli.ts';
import { roleUrls, urlOfRole } from '#test/support/roles.ts';
import { startTemporaryPostgres } from '#test/support/temporary-postgres.ts';

/** The code of the error that a new connection gets; undefined if it works. */
const connect = async (url: string): Promise<string | undefined> => {
  const sql = openDatabase(url, { max: 1 });
  try {
    await sql`select`;
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await sql.end();
  }
};

it('migrate names the roles whose passwords it replaces, also if Redis is down, and says nothing where they stay', async () => {
  await using server = await startTemporaryPostgres();
  const env = { DATABASE_URL: server.databaseUrl, ...roleUrls(server.databaseUrl) };
  const passwordNotes = async (given: Record<string, string>, exits = 0) => {
    const { exit, stderr } = await runCli(['migrate'], given);
    expect(exit).toBe(exits);
    return stderr.split('\n').filter((line) => line.includes('password'));
  };
  expect(await passwordNotes(env)).toEqual([]);
  expect(await passwordNotes(env)).toEqual([]);

  const former = urlOfRole(server.databaseUrl, 'worker');
  const renew = (url: string) => Object.assign(new URL(url), { password: 'another' }).href;
  const fresh = {
    ...env,
    DATABASE_URL_WORKER: renew(former),
    DATABASE_URL_KYC_DESK: renew(urlOfRole(server.databaseUrl, 'kyc_desk')),
  };
  expect(await passwordNotes({ ...fresh, REDIS_URL: 'redis://127.0.0.1:1' }, 1)).toEqual([
    'Replaced the passwords of catalogue_worker, catalogue_kyc_desk, in every database of this server. Running processes with the former ones cannot open connections any more: set DATABASE_URL_WORKER, DATABASE_URL_KYC_DESK there too, and restart them.',
  ]);
  expect(await connect(former)).toBe(INVALID_PASSWORD);
  expect(await connect(fresh.DATABASE_URL_WORKER)).toBeUndefined();
  expect(await passwordNotes(fresh)).toEqual([]);
});
