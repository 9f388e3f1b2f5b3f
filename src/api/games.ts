import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import type { Database } from '#db/client.ts';
import {
  listKeptPictures,
  type PageRequest,
  selectGameDetail,
  selectGamePage,
} from '#db/queries/api-games.ts';
import { scopeOf } from '#src/api/authenticate.ts';
import { shareReads } from '#src/api/share-reads.ts';
import { success } from '#src/api/wire.ts';
import {
  LIST_BY_AUDIT_STATUS_PATH,
  type ListByAuditStatusRequest,
  listByAuditStatusRequestSchema,
  listByAuditStatusResponseSchema,
  QUERY_DETAIL_PATH,
  type QueryDetailRequest,
  queryDetailRequestSchema,
  queryDetailResponseSchema,
} from '#src/contract/platform.ts';
import type { FormatAuditTime } from '#src/events/document.ts';
import { nameOfPicture } from '#src/picture-store/store.ts';

type GameRouteOptions = {
  sql: Database;
  formatAuditTime: FormatAuditTime;
  pictureUrl: () => string | undefined;
  onRequest: onRequestAsyncHookHandler[];
};

/** The pictures of a passed game are those that it was decided on, where their bytes are kept. */
const keptPicturesOf = async (sql: Database, game_id: string, pictureUrl: string) => {
  const kept = await listKeptPictures(sql, game_id);
  const addressesOf = (icons: boolean) =>
    kept
      .filter(({ is_icon }) => is_icon === icons)
      .map((picture) => `${pictureUrl}/${nameOfPicture(picture)}`);
  return { game_icon: addressesOf(true), game_store_pic: addressesOf(false) };
};

/**
 * Adds the two platform-side operations (sections 4.1 and 4.2). An application's token reads the games of that application,
 * an operator's token the games of all.
 */
export const addGameRoutes = (
  app: FastifyInstance,
  { sql, formatAuditTime, pictureUrl, onRequest }: GameRouteOptions,
): void => {
  const readPage = shareReads((page: PageRequest) => selectGamePage(sql, page), JSON.stringify);

  app.post<{ Body: ListByAuditStatusRequest }>(
    LIST_BY_AUDIT_STATUS_PATH,
    {
      onRequest,
      schema: { body: listByAuditStatusRequestSchema, response: { 200: listByAuditStatusResponseSchema } },
    },
    async (request) => {
      const { total, list } = await readPage({
        scope: scopeOf(request),
        ...request.body,
      });
      return success({
        total,
        list: list.map(({ game_id, game_name, audit_time }) => ({
          game_id,
          game_name,
          audit_status: request.body.audit_status,
          audit_time: formatAuditTime(audit_time),
        })),
      });
    },
  );

  app.post<{ Body: QueryDetailRequest }>(
    QUERY_DETAIL_PATH,
    { onRequest, schema: { body: queryDetailRequestSchema, response: { 200: queryDetailResponseSchema } } },
    async (request) => {
      const scope = scopeOf(request);
      const game = await selectGameDetail(sql, { scope, game_id: request.body.game_id });
      if (game === undefined) return success(null);
      const url = game.audit_status === 'passed' ? pictureUrl() : undefined;
      return success(
        url === undefined ? game : { ...game, ...(await keptPicturesOf(sql, game.game_id, url)) },
      );
    },
  );
};
