// A new cp_id was accepted, and the application has not answered with its record: the stored one is of the former cp_id.
import { beforeAll, expect, test } from 'vitest';
import { findKycRecord } from '#db/queries/kyc.ts';
import { countDevelopers } from '#db/queries/kyc-list.ts';
import { countVerdicts } from '#db/queries/verdicts.ts';
import { readWaiting } from '#src/kyc-desk/pages/parts.ts';
import { giveVerdict } from '#src/operations/verdicts.ts';
import { askBy } from '#test/support/approvals.ts';
import { runCli } from '#test/support/cli.ts';
import { addTestOperator, PASSWORD, signIn } from '#test/support/console.ts';
import { addApplication, KIM } from '#test/support/factories.ts';
import { keysText, PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, useTestDesk } from '#test/support/kyc-desk.ts';
import { acceptCpId, operateAs, removeApplication } from '#test/support/operate.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const ALONE = { fourEyes: { kinds: [], onceTwo: false } } as const;
const acme = { application_id: 'acme' };
const OTHER = { ...PLANTED, cp_id: 'cp-other' };

const database = useTestDatabase();
const desk = useTestDesk(database, ALONE);
let cookie: string;

const producer = () => Promise.reject(new Error('no queue'));
const accept = (cp_id: string) => acceptCpId({ sql: database.sql, producer }, 'acme', KIM, cp_id, ALONE);
const pull = (record: typeof PLANTED | null) => store(database.sql, DESK_KEYS, 'acme', record);

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme', {}, DESK_KEYS);
  await addTestOperator(sql, 'kim', 'kyc_officer');
  cookie = await signIn(desk.url, 'kim');
  await pull(PLANTED);
  await pull(OTHER);
  await accept('cp-other');
  await pull(null);
});

const textOf = async (path: string, form?: Record<string, string>): Promise<string> => {
  const post = form && { method: 'POST', body: new URLSearchParams(form) };
  return (await fetch(desk.url + path, { headers: { cookie }, ...post })).text();
};
/** The row of the record's cp_id: what a page says of it, without tags. */
const cpIdOn = (page: string): string | undefined =>
  /<dt[^>]*>cp_id<\/dt>\s*<dd[^>]*>(.*?)<\/dd>/s
    .exec(page)?.[1]
    ?.replaceAll(/<[^>]*>/g, '')
    .trim();
const reveal = () => textOf('/developers/acme/reveal', { reason: 'ticket 4711', password: PASSWORD });
const show = async () => {
  const env = { ...asOperator(database.databaseUrl), ENCRYPTION_KEYS: keysText('k1') };
  return (await runCli(['kyc', 'show', 'acme', '--json'], env)).stdout;
};
const waiting = async () => {
  const { sql } = database;
  const [developers, metrics, list] = await Promise.all([
    countDevelopers(sql),
    countVerdicts(sql),
    readWaiting({ sql, producer }, 9),
  ]);
  return [developers.waiting, metrics.waiting, list.length];
};

test('the record is shown under its own cp_id, at the desk, revealed and on the command line', async () => {
  for (const page of [await textOf('/developers/acme'), await reveal()])
    expect(cpIdOn(page)).toMatch(new RegExp(`^${PLANTED.cp_id} +former$`));
  expect(JSON.parse(await show())).toMatchObject({
    record_cp_id: PLANTED.cp_id,
    application_cp_id: 'cp-other',
  });
});

test('it waits for no verdict, and takes none', async () => {
  const { sql } = database;
  expect(await waiting()).toEqual([0, 0, 0]);
  expect(await textOf('/developers/acme')).not.toContain('Give a verdict');
  const { record_id = '' } = (await findKycRecord(sql, 'acme')) ?? {};
  const given = { ...acme, record_id, verdict: 'verified', reason: 'ticket 4711' } as const;
  await expect(operateAs(sql, KIM, giveVerdict, given, ALONE)).rejects.toThrow(
    'The KYC record of acme is of its former cp_id',
  );
  const asked = { kind: 'verdict', subject: 'application:acme', verdict: 'verified', reason: 'x' } as const;
  await expect(askBy(sql, 'kim', asked)).rejects.toThrow('There is no record to give a verdict on.');
});

test('it is the current record again once its cp_id is accepted again, and so is the record of the other one', async () => {
  await pull(PLANTED);
  await accept(PLANTED.cp_id);
  expect(await waiting()).toEqual([1, 1, 1]);
  expect(cpIdOn(await textOf('/developers/acme'))).toBe(PLANTED.cp_id);
  await pull(OTHER);
  await accept('cp-other');
  await pull(OTHER);
  expect(await waiting()).toEqual([1, 1, 1]);
  expect(cpIdOn(await textOf('/developers/acme'))).toMatch(/^cp-other +changed$/);
  expect(cpIdOn(await reveal())).toBe('cp-other');
});

test('the desk offers no verdict on a removed application', async () => {
  expect(await textOf('/developers/acme')).toContain('Give a verdict');
  await removeApplication(database.sql, 'acme');
  expect(await textOf('/developers/acme')).not.toContain('Give a verdict');
});
