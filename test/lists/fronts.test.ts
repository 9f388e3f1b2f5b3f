// A filter that means nothing: the command line refuses it by its name, and a page marks its field and shows all rows.
import { beforeAll, expect, test } from 'vitest';
import { controlsOf, isRequired } from '#src/lists/filters.ts';
import { LISTS } from '#src/lists/index.ts';
import type { AnyList } from '#src/lists/list.ts';
import { fillLists } from '#test/lists/world.ts';
import { runCli } from '#test/support/cli.ts';
import { signIn, useTestConsole } from '#test/support/console.ts';
import { addToken } from '#test/support/factories.ts';
import { useTestDesk } from '#test/support/kyc-desk.ts';
import { asOperator } from '#test/support/roles.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';

const database = useTestDatabase();
const served = useTestConsole(database);
const desk = useTestDesk(database);
beforeAll(async () => {
  await fillLists(database.sql);
});

/** Values that no filter of a kind accepts. */
const WRONG: Record<string, string> = {
  choice: 'nonsense',
  application: 'Not An Id',
  time: 'tomorrow',
  id: 'zz',
  text: 'x'.repeat(600),
};

/** Each filter of a list with a wrong value, but for flags, which have none. */
const wrongFilters = (list: AnyList) =>
  controlsOf(list.filter).flatMap(([, control]) => {
    const value = WRONG[control.kind];
    return value === undefined ? [] : [{ ...control, value }];
  });

/** The command of each list. `queue status` shows two lists without a filter, and `approval list` every request. */
const COMMANDS: Record<string, string | null> = {
  'application.checks': 'app checks',
  'application.list': 'app list',
  'application.unverified': 'app unverified',
  'approval.list': 'approval list',
  'audit.list': 'audit list',
  'event.addresses': 'event addresses',
  'event.deliveries': 'event deliveries',
  'event.subscriptions': 'event subscriptions',
  'failure.groups': 'failure groups',
  'failure.list': 'failure list',
  'game.list': 'game list',
  'game.rejected': 'game rejected',
  'game.thread': 'game thread',
  'game.withdrawn': 'game withdrawn',
  'kyc.list': 'kyc list',
  'kyc.requests': null,
  'kyc.reveals': 'kyc reveals',
  'kyc.verdicts': 'kyc verdicts',
  'kyc.versions': 'kyc versions',
  'operator.list': 'operator list',
  'queue.list': null,
  'reason.list': 'reason list',
  'review.appeals': 'review appeals',
  'review.batch': 'review batch',
  'review.figures': 'review figures',
  'review.list': 'review list',
  'review.overturned': 'review overturned',
  'run.days': 'run days',
  'run.list': 'run list',
  'run.pages': 'run pages',
  'run.requests': null,
  'run.withdrawals': 'run withdrawals',
  'token.list': 'token list',
  'worker.list': null,
};

test('the table names every list', () => {
  expect(Object.keys(COMMANDS)).toEqual(LISTS.map(({ name }) => name).toSorted());
});

const named = LISTS.flatMap((list) => {
  const command = COMMANDS[list.name];
  return typeof command === 'string' ? [[command, list] as const] : [];
});

test.each(named)('%s refuses a wrong filter and names it', async (command, list) => {
  for (const { name, value, isArgument } of wrongFilters(list)) {
    const args = isArgument ? [value] : [`--${name}`, value];
    const { exit, stderr } = await runCli([...command.split(' '), ...args], asOperator(database.databaseUrl));
    expect(exit, `${command} ${name}`).toBe(2);
    expect(stderr).toContain(isArgument ? `${name}: ` : `--${name}`);
  }
});

/** The pages that show a list with its filters. */
const PAGES: Record<string, [site: 'console' | 'desk' | 'portal', path: string]> = {
  'application.list': ['console', '/applications'],
  'audit.list': ['console', '/audit'],
  'event.deliveries': ['portal', '/portal/events'],
  'failure.groups': ['console', '/failures'],
  'game.list': ['console', '/games'],
  'kyc.list': ['desk', '/'],
  'kyc.requests': ['desk', '/requests'],
  'kyc.reveals': ['desk', '/reveals'],
  'operator.list': ['console', '/operators'],
  'reason.list': ['console', '/reasons'],
  'review.appeals': ['console', '/review/appeals'],
  'review.figures': ['console', '/figures'],
  'review.list': ['console', '/review'],
  'review.overturned': ['console', '/figures/rejections'],
  'run.list': ['console', '/runs'],
};

test.each(Object.entries(PAGES))(
  'the page of %s shows all rows at a wrong filter, and marks its field',
  async (name, [site, path]) => {
    const list = LISTS.find((each) => each.name === name) as AnyList;
    const { url, cookie } = await openSite(site);
    const read = async (query: string): Promise<string> => {
      const answer = await fetch(new URL(`${path}?${query}`, url), { headers: { cookie } });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    const countRows = async (query: string): Promise<number> =>
      (await read(query)).split(' data-item>').length - 1;
    const all = await countRows('');
    expect(all).toBeGreaterThan(0);
    for (const { name: option, value } of wrongFilters(list)) {
      const parameter = option === 'search' ? 'q' : option;
      const query = `${parameter}=${encodeURIComponent(value)}`;
      expect(await countRows(query), parameter).toBe(all);
      const page = await read(query);
      const [field] = new RegExp(`<input type="(?:text|search)" name="${parameter}"[^>]*>`).exec(page) ?? [];
      // A choice has no place for a word that is none of it.
      if (field === undefined) continue;
      expect(field, parameter).toContain(`aria-invalid="true" aria-describedby="flaw-${parameter}"`);
      expect(page).toContain(`<p class="flaw" id="flaw-${parameter}">`);
    }
    for (const query of ['sort=nonsense', 'cursor=nonsense', `cursor=${list.order},%2500`])
      expect(await countRows(query), query).toBe(all);
  },
);

/** The heads that sort: the text of each, its direction, and its address. */
const headsOf = (page: string) =>
  [...page.matchAll(/<th[^>]* aria-sort="(\w+)"[^>]*><a class="sort" href="([^"]+)"[^>]*>([^<]+)/g)].map(
    ([, direction, href = '', text]) => ({ direction, href: href.replaceAll('&amp;', '&'), text }),
  );

test('the box of a flag is checked by the words for yes alone', async () => {
  const { url, cookie } = await openSite('desk');
  const isChecked = async (value: string): Promise<boolean> => {
    const answer = await fetch(new URL(`/?new-cp-id=${value}`, url), { headers: { cookie } });
    return (await answer.text()).includes('name="new-cp-id" value="1" checked>');
  };
  for (const yes of ['1', 'true']) expect(await isChecked(yes), yes).toBe(true);
  for (const no of ['0', 'false', 'any']) expect(await isChecked(no), no).toBe(false);
});

test('a filter keeps the order of the rows', async () => {
  const { url, cookie } = await openSite('console');
  const answer = await fetch(new URL('/applications?sort=-name', url), { headers: { cookie } });
  const [form] = /<form method="get".*?<\/form>/s.exec(await answer.text()) ?? [];
  expect(form).toContain('<input type="hidden" name="sort" value="-name">');
});

test('each head of a page sorts its table', async () => {
  let heads = 0;
  for (const [site, path] of Object.values(PAGES)) {
    const { url, cookie } = await openSite(site);
    const read = async (href: string) =>
      headsOf(await (await fetch(new URL(href, url), { headers: { cookie } })).text());
    for (const { direction, href, text } of await read(path)) {
      heads += 1;
      const sorted = (await read(href)).find((head) => head.text === text);
      expect(sorted?.direction, `${path}: ${text}`).toMatch(/cending$/);
      expect(sorted?.direction, `${path}: ${text}`).not.toBe(direction);
    }
  }
  expect(heads).toBeGreaterThan(10);
});

const openSite = async (site: 'console' | 'desk' | 'portal'): Promise<{ url: string; cookie: string }> => {
  if (site === 'desk') return { url: desk.url, cookie: await signIn(desk.url, 'kim') };
  if (site === 'console') return { url: served.url, cookie: await signIn(served.url, 'olga') };
  const { token } = await addToken(database.sql, 'lantern-works');
  const body = new URLSearchParams({ token });
  const answer = await fetch(new URL('/portal/sign-in', served.url), {
    method: 'POST',
    body,
    redirect: 'manual',
  });
  return { url: served.url, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
};

test('each filter that a list requires is an argument of its command', () => {
  for (const { filter } of LISTS)
    for (const [key, { isArgument }] of controlsOf(filter))
      if (isRequired(filter, key)) expect(isArgument).toBe(true);
});
