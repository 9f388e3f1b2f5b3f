import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import { selectCatalogueDetail } from '#db/queries/catalogue.ts';
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
import { createAuditTimeFormat } from './audit-time.ts';
import { answerTo } from './authenticate.ts';
import type { Lanes } from './in-turn.ts';
import { createPageReader } from './page-reader.ts';
import { success } from './success.ts';

/** The two operations of the platform side (sections 4.1 and 4.2). */
export const addGameRoutes = (
  app: FastifyInstance,
  options: Lanes & { auditTimeZone: string; onRequest: onRequestAsyncHookHandler[] },
): void => {
  const { sql, onRequest } = options;
  const readPage = createPageReader(options);
  const formatAuditTime = createAuditTimeFormat(options.auditTimeZone);

  app.post<{ Body: ListByAuditStatusRequest }>(
    LIST_BY_AUDIT_STATUS_PATH,
    {
      onRequest,
      schema: { body: listByAuditStatusRequestSchema, response: { 200: listByAuditStatusResponseSchema } },
    },
    async (request) => {
      const { audit_status, ...page } = request.body;
      const { total, list } = await answerTo(request, (scope) => readPage({ scope, audit_status, ...page }));
      return success({
        total,
        list: list.map(({ game_id, game_name, audit_time }) => ({
          game_id,
          game_name,
          audit_status,
          audit_time: formatAuditTime(audit_time),
        })),
      });
    },
  );

  app.post<{ Body: QueryDetailRequest }>(
    QUERY_DETAIL_PATH,
    { onRequest, schema: { body: queryDetailRequestSchema, response: { 200: queryDetailResponseSchema } } },
    async (request) => {
      const { game_id } = request.body;
      const game = await answerTo(request, (scope) => selectCatalogueDetail(sql, scope, game_id));
      return success(game ?? null);
    },
  );
};
