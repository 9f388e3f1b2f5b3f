import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Database } from '#db/client.ts';
import { type Scope, selectCatalogueDetail } from '#db/queries/catalogue.ts';
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
import { admitted } from './authenticate.ts';
import { createPageReader } from './page-reader.ts';
import { success } from './success.ts';

const scopeOf = (request: FastifyRequest): Scope => {
  if (request.caller === null) throw new Error('a game route was reached without authentication');
  return request.caller.application_id;
};

/** The two operations of the platform side (sections 4.1 and 4.2). */
export const addGameRoutes = (
  app: FastifyInstance,
  options: { sql: Database; auditTimeZone: string; onRequest: onRequestAsyncHookHandler[] },
): void => {
  const { sql, onRequest } = options;
  const readPage = createPageReader(sql);
  const formatAuditTime = createAuditTimeFormat(options.auditTimeZone);

  app.post<{ Body: ListByAuditStatusRequest }>(
    LIST_BY_AUDIT_STATUS_PATH,
    {
      onRequest,
      schema: { body: listByAuditStatusRequestSchema, response: { 200: listByAuditStatusResponseSchema } },
    },
    async (request) => {
      const { audit_status, ...page } = request.body;
      const { total, list } = await admitted(request, readPage(scopeOf(request), audit_status, page));
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
      const game = selectCatalogueDetail(sql, scopeOf(request), request.body.game_id);
      return success((await admitted(request, game)) ?? null);
    },
  );
};
