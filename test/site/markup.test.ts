// html-validate over every page of the three sites, as the server sends it.
import { HtmlValidate } from 'html-validate';
import { beforeAll, expect, test } from 'vitest';
import { emptyPages, everyPage } from '#test/console/every-page.ts';
import { addTestOperator, signIn, useTestConsole } from '#test/support/console.ts';
import { addApplication, addToken } from '#test/support/factories.ts';
import { PLANTED, store } from '#test/support/kyc.ts';
import { DESK_KEYS, useTestDesk } from '#test/support/kyc-desk.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
const desk = useTestDesk(database);
beforeAll(async () => {
  const { sql } = database;
  await addTestOperator(sql, 'olga', 'reviewer', 'admin');
  await addTestOperator(sql, 'kim', 'kyc_officer');
});

const validator = new HtmlValidate({
  root: true,
  extends: ['html-validate:standard', 'html-validate:a11y'],
  rules: {
    // Every button without a type submits its form.
    'no-implicit-button-type': 'off',
    // Boxes have `autocomplete="off"`, because browsers restore checks by their place, where another row may be.
    'valid-autocomplete': 'off',
  },
});

/** @returns what is wrong with the markup of each page, by its path */
const findProblems = async (url: string, cookie: string, paths: readonly string[]) => {
  const problems: Record<string, string[]> = {};
  for (const path of paths) {
    const answer = await fetch(new URL(path, url), { headers: { cookie } });
    expect(answer.headers.get('content-type'), path).toContain('text/html');
    const report = await validator.validateString(await answer.text());
    const found = report.results.flatMap(({ messages }) =>
      messages.map(({ line, ruleId, message, selector }) => `${line} ${ruleId}: ${message} (${selector})`),
    );
    if (found.length > 0) problems[path] = found.slice(0, 8);
  }
  return problems;
};

test('every page of the console is valid', async () => {
  const { sql } = database;
  const cookie = await signIn(served.url, 'olga');
  const empty = Object.values(await emptyPages(sql)).map((visit) =>
    typeof visit === 'string' ? visit : visit.path,
  );
  expect(await findProblems(served.url, cookie, empty)).toEqual({});
  const visits = Object.values(await everyPage(sql)).map((visit) =>
    typeof visit === 'string' ? visit : visit.path,
  );
  expect(await findProblems(served.url, cookie, visits)).toEqual({});
  expect(await findProblems(served.url, '', ['/sign-in', '/portal/sign-in', '/sign-in?link=x'])).toEqual({});
});

test('every page of the portal is valid', async () => {
  const { token } = await addToken(database.sql, 'lantern-works');
  const answer = await fetch(new URL('/portal/sign-in', served.url), {
    method: 'POST',
    body: new URLSearchParams({ token }),
    redirect: 'manual',
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const pages = ['/portal', '/portal/runs', '/portal/events', '/portal/checks', '/portal/game?id=lw-0001'];
  const tabs = ['pending', 'passed', 'rejected', 'withdrawn'].map((tab) => `/portal/games?status=${tab}`);
  expect(await findProblems(served.url, cookie, [...pages, ...tabs])).toEqual({});
});

test('every page of the KYC desk is valid', async () => {
  const { sql } = database;
  for (const id of ['acme', 'paper-kite']) {
    await addApplication(sql, id, {}, DESK_KEYS);
    await store(sql, DESK_KEYS, id, PLANTED);
  }
  await store(sql, DESK_KEYS, 'acme', { ...PLANTED, opening_bank: 'Bank' });
  await store(sql, DESK_KEYS, 'paper-kite', { ...PLANTED, cp_id: 'another' });
  const cookie = await signIn(desk.url, 'kim');
  const pages = ['/', '/developers/acme', '/developers/paper-kite', '/requests', '/reveals', '/account'];
  expect(await findProblems(desk.url, cookie, pages)).toEqual({});
});
