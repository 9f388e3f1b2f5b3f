// Texts at their longest arrive in every form, in a script whose characters take nine bytes in a form or more.
import { beforeAll, expect, test } from 'vitest';
import { findHold } from '#db/queries/holds.ts';
import { addTestOperator, PASSWORD, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication } from '#test/support/factories.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, useTestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
const desk = useTestDesk(database);

beforeAll(async () => {
  const { sql } = database;
  await addApplication(sql, 'acme', {}, DESK_KEYS);
  await store(sql, DESK_KEYS, 'acme', PLANTED);
  await addTestOperator(sql, 'ada', 'admin', 'reviewer');
  await addTestOperator(sql, 'kim', 'kyc_officer');
});

const post = async (url: string, login: string, path: string, form: Record<string, string>) => {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { cookie: await signIn(url, login) },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });
  return answer.status;
};

test.each(['夜', '\u{1f3b2}'])(
  '%s: a reason of rejections, a hold, a new operator, a verdict',
  async (one) => {
    const { sql } = database;
    const [text, reason] = [one.repeat(4_000), one.repeat(1_000)];
    const code = `long_${one.length}`;
    const added = { act: 'add', code, label: one.repeat(200), text };
    expect(await post(served.url, 'ada', '/reasons', added)).toBe(303);
    expect(await sql`select text from reasons where code = ${code}`).toMatchObject([{ text }]);

    expect(await post(served.url, 'ada', '/applications/acme/hold', { reason })).toBe(303);
    expect(await findHold(sql, 'acme')).toMatchObject({ reason });
    await post(served.url, 'ada', '/applications/acme/release', {});

    const operator = { act: 'add', login: `lee-${one.length}`, role: 'viewer', reason, password: PASSWORD };
    expect(await post(served.url, 'ada', '/operators', operator)).toBe(200);

    const [record] = await sql<{ record_id: string }[]>`select record_id from kyc_records limit 1`;
    const verdict = {
      verdict: 'verified',
      text,
      reason,
      expires: '365d',
      record_id: record?.record_id ?? '',
    };
    expect(await post(desk.url, 'kim', '/developers/acme/verdict', verdict)).toBe(303);
  },
);
