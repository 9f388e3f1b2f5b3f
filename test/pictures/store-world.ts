import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Database } from '#db/client.ts';
import { upsertGames } from '#db/queries/games.ts';
import { recheckPicturesJob } from '#jobs/recheck-pictures.ts';
import { tidyPictureStoreJob } from '#jobs/tidy-picture-store.ts';
import { PICTURES_PATH } from '#src/api/pictures.ts';
import type { GameDetail } from '#src/contract/platform.ts';
import type { Decision } from '#src/contract/words.ts';
import { createEgressPolicy } from '#src/egress/egress.ts';
import { tidyPictureStore } from '#src/ingest/specs.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { createReopenGames } from '#src/operations/reopen-games.ts';
import { createFileStore, openFileStore } from '#src/picture-store/file-store.ts';
import type { PictureStore } from '#src/picture-store/store.ts';
import { createDecoder } from '#src/pictures/decoder.ts';
import { createPictureKeeper, type PictureKeeper } from '#src/pictures/keeper.ts';
import { createPictures } from '#src/pictures/refresh.ts';
import type { Producer } from '#src/queue/producer.ts';
import type { DecisionResult } from '#src/rules/judge-decision.ts';
import { DETAIL, post, startApi, type TestApi } from '#test/support/api.ts';
import { addApplication, addToken, fetchedGame, KIM } from '#test/support/factories.ts';
import { oneGame } from '#test/support/landed.ts';
import { operateAs, undoGameDecisions } from '#test/support/operate.ts';
import { aPicture, type PictureServer, startPictureServer } from '#test/support/pictures.ts';
import { openAs } from '#test/support/roles.ts';

export type StoreWorld = {
  api: TestApi;
  /** Of the application `acme`. */
  server: PictureServer;
  stopServer: () => Promise<void>;
  /** Messages of the media process. */
  warnings: string[];
  media: Database;
  keeper: PictureKeeper;
  /** Lands `<id>` with an icon and two pictures, at `/<id>/0.png` and so on. */
  land: (id: string) => Promise<string>;
  serve: (id: string, seeds: readonly number[]) => Promise<Buffer[]>;
  /** Fetches the pictures of a game. */
  look: (id: string) => Promise<void>;
  decide: (id: string, audit_status?: Decision) => Promise<DecisionResult | undefined>;
  undo: (id: string) => Promise<void>;
  statusOf: (id: string) => Promise<string>;
  /** Results are no longer fresh, and every picture of a decision is due. */
  recheck: () => Promise<unknown>;
  /** Checks what is due. */
  check: () => Promise<unknown>;
  /** As after a decision on a game, or once an hour. */
  tidy: (id?: string) => Promise<unknown>;
  /** Does the jobs of the store that wait in the queue. */
  drain: (producer: Producer) => Promise<void>;
  /** What group A answers. */
  detail: (id: string) => Promise<GameDetail>;
  addressesOf: (id: string) => Promise<string[]>;
  close: () => Promise<void>;
};

const KEEP_MS = 3_600_000;

/**
 * A media process, reviewers and the API over a store of pictures.
 * @param directory of a store that the API serves
 */
export const openStoreWorld = async (
  store: PictureStore,
  { directory, publicUrl }: { directory?: string; publicUrl?: string },
): Promise<StoreWorld> => {
  if (directory !== undefined) await createFileStore(directory);
  const server = await startPictureServer();
  const pictureUrl = () => publicUrl ?? `${api.url}${PICTURES_PATH}`;
  const api: TestApi = await startApi({ pictures: { url: pictureUrl, directory } });
  const media: Database = openAs('media', api.databaseUrl);
  const reviewer: Database = openAs('console', api.databaseUrl);
  const worker: Database = openAs('worker', api.databaseUrl);
  const warnings: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line).msg) });
  const decoder = createDecoder();
  const egress = createEgressPolicy({ allowHttp: true, allowNetworks: ['127.0.0.0/8'] });
  const keeper = createPictureKeeper({ sql: media, store, keepMs: KEEP_MS, logger });
  const recheckMs = KEEP_MS;
  const reopenGames = createReopenGames(media);
  const pictures = createPictures({
    sql: media,
    egress,
    decoder,
    keeper,
    maxBytes: 200_000,
    recheckMs,
    reopenGames,
  });
  let isServing = true;
  const stopServer = async () => {
    if (isServing) await server.close();
    isServing = false;
  };
  const { signal } = new AbortController();
  const context = { deps: { sql: media, pictures, keeper, recheckMs }, signal } as never;
  await addApplication(api.sql, 'acme');
  const { token } = await addToken(api.sql, 'acme');
  const gameOf = (id: string) => oneGame(api.sql, 'acme', id);
  const detail = async (id: string) =>
    (await post(api.url, DETAIL, token, { game_id: (await gameOf(id)).game_id })).body.data;
  const check = async () => recheckPicturesJob.handler({}, context);
  const age = () => api.sql`
    update pictures set fresh_until = now(), next_check_at = case when next_check_at is not null then now() end`;
  return {
    api,
    server,
    stopServer,
    warnings,
    media,
    keeper,
    land: async (id) => {
      const [icon = '', ...others] = [0, 1, 2].map((n) => `${server.url}/${id}/${n}.png`);
      const game = fetchedGame({
        game_id: id,
        game_icon: [icon],
        game_store_pic: others,
        game_store_video: '',
      });
      await upsertGames(worker, 'acme', [game]);
      return (await gameOf(id)).game_id;
    },
    serve: async (id, seeds) => {
      const all = await Promise.all(seeds.map((seed) => aPicture(seed)));
      for (const [n, bytes] of all.entries())
        server.files.set(`/${id}/${n}.png`, { bytes, etag: `"${seeds[n]}"` });
      return all;
    },
    look: async (id) => {
      const { game_icon, game_store_pic } = await gameOf(id);
      for (const url of [...game_icon, ...game_store_pic])
        await pictures.refresh({ application_id: 'acme', url }, 'look', signal);
    },
    decide: async (id, audit_status = 'passed') => {
      const { game_id, revision } = await gameOf(id);
      const games = [{ game_id, revision }];
      const platform = { keepsPictures: true };
      const decided =
        audit_status === 'passed'
          ? await operateAs(reviewer, KIM, passGames, { games }, platform)
          : await operateAs(reviewer, KIM, rejectGames, { games, reason: 'rights' }, platform);
      return decided.games[0]?.result;
    },
    undo: async (id) => {
      const { game_id } = await gameOf(id);
      const [last] = await api.sql<{ audit_id: number }[]>`
        select audit_id from game_audits where game_id = ${game_id} order by audit_id desc limit 1`;
      await undoGameDecisions(reviewer, [Number(last?.audit_id)], KIM);
    },
    statusOf: async (id) => (await gameOf(id)).audit_status,
    recheck: async () => {
      await age();
      return check();
    },
    check,
    tidy: async (id) =>
      tidyPictureStoreJob.handler(
        id === undefined ? {} : { game_ids: [(await gameOf(id)).game_id] },
        context,
      ),
    drain: async (producer) => {
      const queue = producer.queue(tidyPictureStore);
      for (const { data } of await queue.getWaiting()) await tidyPictureStoreJob.handler(data, context);
      await queue.drain();
    },
    detail,
    addressesOf: async (id) => {
      const { game_icon, game_store_pic } = await detail(id);
      return [...game_icon, ...game_store_pic];
    },
    close: async () => {
      pictures.close();
      decoder.close();
      for (const each of [media, reviewer, worker]) await each.end({ timeout: 1 });
      await api.close();
      await stopServer();
    },
  };
};

/** The same, over a store in a directory of its own, which goes with it. */
export const openFileStoreWorld = async (): Promise<{ directory: string; world: StoreWorld }> => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-store-'));
  const world = await openStoreWorld(openFileStore(directory), { directory });
  const close = async () => {
    await world.close();
    await rm(directory, { recursive: true });
  };
  return { directory, world: { ...world, close } };
};
