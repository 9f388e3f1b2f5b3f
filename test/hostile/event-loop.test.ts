import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { isCallError } from '#src/egress/errors.ts';
import { addApplication, anOpenRun } from '#test/support/factories.ts';
import {
  aFleet,
  goodDetail,
  idsOf,
  startHostileApplication,
  success,
} from '#test/support/hostile-application.ts';
import { watchTurns } from '#test/support/longest-turn.ts';
import { recordPage } from '#test/support/record-page.ts';
import { useTestDatabase } from '#test/support/test-sql.ts';
import { aClient, live, respondWith, targetAt } from '#test/support/webhooks.ts';

const database = useTestDatabase();

/** Between two turns of the event loop, locks are renewed and probes are answered. */
const TURN_MAX_MS = 250;
const MIB = 1024 * 1024;

/** URLs whose hosts are the slowest to check: all their letters differ. */
const slowUrls = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, index) => {
    const letter = (_: unknown, place: number) =>
      place % 63 === 62 ? '.' : String.fromCodePoint(0x4e00 + ((from + 7 * index + place) % 20_000));
    return `https://${Array.from({ length: 250 }, letter).join('')}/`;
  });
const rows = (urls: readonly string[]) =>
  urls.map((game_icon, index) => ({ ...row(`g${index}`), game_icon }));
const row = (game_id: string) => ({ game_id, game_name: 'G', game_icon: '' });

/** Members of a JSON list or object, nearly 4 MiB of them. */
const filled = (member: (index: number) => string): string => {
  const members: string[] = [];
  for (let length = 0; length < 3.9 * MIB; length += (members.at(-1)?.length ?? 0) + 1)
    members.push(member(members.length));
  return members.join(',');
};
const list = (elements: readonly unknown[]) => success({ total: elements.length, list: elements });
const extra = (json: string) =>
  `{"ret_code":0,"ret_msg":"success","data":{"total":0,"list":[],"extra":${json}}}`;

/** Pages within 4 MiB that cost as much as a page can, and how each ends. */
const PAGES: Record<string, { body: () => string; ends: 'recorded' | 'invalid_data' | 'too_many_values' }> = {
  'as many rows with slow hosts as fit': { body: () => list(rows(slowUrls(5_000))), ends: 'invalid_data' },
  'a thousand rows with slow hosts': { body: () => list(rows(slowUrls(1_000))), ends: 'recorded' },
  'a thousand invalid rows': {
    body: () => list(Array.from({ length: 1_000 }, () => ({}))),
    ends: 'recorded',
  },
  'long texts': {
    body: () => list(rows(Array.from({ length: 1_000 }, () => 'x'.repeat(4_000)))),
    ends: 'recorded',
  },
  'keys that differ': {
    body: () => extra(`{${filled((index) => `"k${index}":0`)}}`),
    ends: 'too_many_values',
  },
  'objects of different shapes': {
    body: () => extra(`[${filled((index) => `{"k${index}":0}`)}]`),
    ends: 'too_many_values',
  },
  'short texts that differ': {
    body: () => extra(`[${filled((index) => `"${index.toString(36)}"`)}]`),
    ends: 'too_many_values',
  },
  'keys that are numbers': {
    body: () => extra(`{${filled((index) => `"${4_294_967_294 - 4_096 * index}":0`)}}`),
    ends: 'too_many_values',
  },
  'nested empty lists': {
    body: () => extra(`[${filled(() => '[[[[[[[[[]]]]]]]]]')}]`),
    ends: 'too_many_values',
  },
  'one text of escapes': {
    body: () => extra(`"${'\\ud83d\\ude00'.repeat((3.9 * MIB) / 12)}"`),
    ends: 'recorded',
  },
};

/** Watches the event loop until the test ends. */
const longestTurn = (): (() => number) => {
  const turns = watchTurns();
  onTestFinished(turns.stop);
  return turns.longestMs;
};

test.each(Object.entries(PAGES))(
  'a page of %s blocks the event loop for less than 250 ms',
  async (_, { body, ends }) => {
    const zipped = gzipSync(body(), { level: 1 });
    const server = await respondWith(zipped, { headers: { 'content-encoding': 'gzip' } });
    const application = await addApplication(database.sql, `app-${randomUUID()}`);
    const run = await anOpenRun(database.sql, application.application_id);
    const cursor = { application, run, previous: undefined };
    const client = aClient();
    const longestMs = longestTurn();
    const outcome = await client
      .queryGameList(targetAt(server.url), { page_num: 1, page_size: 100 }, live())
      .then((page) => recordPage(database.sql, cursor, page, 10))
      .then(
        () => 'recorded',
        (error: unknown) => isCallError(error) && error.code,
      );
    expect(outcome).toBe(ends);
    expect(longestMs()).toBeLessThan(TURN_MAX_MS);
  },
);

test('forty slow details that arrive together block the event loop for less than 250 ms', async () => {
  const ids = idsOf('g', 40);
  const bodies = new Map(
    ids.map((id, index) => {
      const urls = { game_icon: slowUrls(100, index), game_store_pic: slowUrls(100, 900 + index) };
      return [id, Buffer.from(success({ ...goodDetail(id), ...urls }))];
    }),
  );
  const waiting: (() => void)[] = [];
  const fleet = await aFleet();
  const settings = { concurrency: ids.length, rate: 10_000 };
  const list = (pageNum: number) => ({
    data: { total: ids.length, list: pageNum === 1 ? ids.map(row) : [] },
  });
  const detail = (id: string) => (response: ServerResponse) => {
    waiting.push(() => response.end(bodies.get(id)));
    if (waiting.length === ids.length) for (const answer of waiting) answer();
  };
  await startHostileApplication(fleet, 'acme', { list, detail }, settings);
  const longestMs = longestTurn();
  expect(await fleet.sync('acme')).toMatchObject({ outcome: 'succeeded', inserted: ids.length });
  expect(longestMs()).toBeLessThan(TURN_MAX_MS);
});
