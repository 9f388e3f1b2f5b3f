// The figures of the guides are those of the code.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { LIST_ROWS_MAX } from '#src/contract/application.ts';
import {
  DESCRIPTION_MAX,
  IDENTIFIER_MAX,
  NAME_MAX,
  PROSE_MAX,
  URL_MAX,
  URLS_MAX,
} from '#src/contract/text.ts';
import {
  CALL_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  MAX_BODY_BYTES,
  MAX_JSON_VALUES,
  MEMORY,
  PACE,
  STORAGE,
  WIRE,
} from '#src/rules/budgets.ts';
import { DELIVERY } from '#src/rules/deliveries.ts';
import { WAITING } from '#src/rules/waiting.ts';
import { readCompose } from '#test/ops/compose.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const count = (value: number): string => value.toLocaleString('en');

const FIGURES = [
  `A call ends after ${CALL_TIMEOUT_MS / 1_000} seconds; connecting may take ${CONNECT_TIMEOUT_MS / 1_000} of them.`,
  `A list has at most ${MAX_BODY_BYTES.query_game_list / MIB} MiB and ${count(LIST_ROWS_MAX)} rows`,
  `a detail ${MAX_BODY_BYTES.query_game_detail / MIB} MiB, a KYC record ${MAX_BODY_BYTES.query_cp_kyc / KIB} KiB`,
  `no response has more than ${count(MAX_JSON_VALUES)} keys and values, or more than ${WIRE.bytes / MIB} MiB`,
  `Responses over ${MEMORY.ordinaryBytes / KIB} KiB, with everything around the body, are also paced by their bytes, at most ${PACE.bytesOfOne / MIB} MiB a second`,
  `over ${PACE.ordinaryMs} ms to process by that time: 0.1 s of ours is followed by a pause of ${0.1 / PACE.shareOfOne} s`,
  `Your new and changed games of 24 hours may have ${STORAGE.bytesPerDay / KIB / MIB} GiB (each withdrawal counts as ${STORAGE.bytesOfWithdrawal / KIB} KiB)`,
  `one application ${count(STORAGE.games)} games`,
  `one listing ${count(STORAGE.pages)} pages and ${STORAGE.listedBytes / MIB} MiB of ids`,
  `one run ${STORAGE.runMs / 3_600_000} hours`,
  `Names and ids have at most ${NAME_MAX} characters, \`game_info\` ${count(DESCRIPTION_MAX)}`,
  `lists of pictures ${URLS_MAX} URLs`,
  `unless WEBHOOK_ALLOW_HTTP is set) ${count(URL_MAX)}`,
  `of a 429 or 503, up to ${WAITING.retryAfterMaxMs / 60_000} minutes`,
  `Anything but 2xx is retried for ${DELIVERY.lifetimeMs / 3_600_000} hours`,
  `with one event at a time, at least every ${DELIVERY.probeMaxMs / 60_000} minutes`,
  `A text has at most ${count(PROSE_MAX)} characters`,
];

test("the developer's guide has the limits of the code", async () => {
  expect(IDENTIFIER_MAX).toBe(NAME_MAX);
  const page = await readFile('docs/application-developers.md', 'utf8');
  for (const figure of FIGURES) expect(page).toContain(figure);
});

test('the connections of each process are those of its pools', async () => {
  const read = async (path: string, figure: RegExp): Promise<number> =>
    Number(figure.exec(await readFile(path, 'utf8'))?.[1]);
  const of = (process: string) =>
    read(`src/processes/${process}.ts`, /^const DATABASE_CONNECTIONS = (\d+);$/m);
  const [worker, api, console, media, desk, metrics] = (await Promise.all(
    ['worker', 'api', 'console', 'media', 'kyc-desk', 'metrics'].map(of),
  )) as [number, number, number, number, number, number];
  const operator = await read('src/processes/api.ts', /^const OPERATOR_CONNECTIONS = (\d+);$/m);
  const all = worker + api + operator + console + media + desk + metrics;
  // The queues of a process: a pool to take jobs, one for what adds and reads them, and that of the metrics.
  const [take, add] = (await Promise.all(
    ['worker', 'producer'].map((use) =>
      read('src/queue/backend.ts', new RegExp(`POOL_MAX.*\\b${use}: (\\d+)`)),
    ),
  )) as [number, number];
  const queued = [
    worker + take + add,
    api + add,
    api + operator + 2 * add,
    console + add,
    media + take,
    desk,
    all - metrics + 2 * take + 4 * add,
  ].map((own) => own + metrics + add);
  const connections = [
    `worker and API ${worker + metrics} each`,
    `an API with the operator API ${api + operator + metrics}`,
    `console and media ${media + metrics}`,
    `KYC desk ${desk + metrics}`,
    `\`up\` ${all}; with the queues in Postgres ${queued.join(', ')}.`,
  ];
  expect(await readFile('docs/operate.md', 'utf8')).toContain(connections.join(', '));
  expect([api, console]).toEqual([worker, media]);
  const { services } = await readCompose();
  const workers = services.worker?.deploy?.replicas ?? 1;
  const sum = workers * worker + 2 * api + operator + console + media + desk + (workers + 5) * metrics;
  const max = /^max_connections=(\d+)$/.exec(services.postgres?.command?.at(-1) ?? '')?.[1];
  expect(Number(max), 'docker-compose.yml').toBeGreaterThanOrEqual(2 * sum);
});
