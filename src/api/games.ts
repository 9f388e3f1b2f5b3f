import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify';
import { type DetailAsked, selectCatalogueDetails } from '#db/queries/api-games.ts';
import { createAuditTimeFormat } from '#src/api/audit-time.ts';
import { answerTo } from '#src/api/authenticate.ts';
import { inTurn, type Lanes } from '#src/api/in-turn.ts';
import { createPageReader } from '#src/api/page-reader.ts';
import { success } from '#src/api/success.ts';
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

/** Games read in full in one statement. */
const DETAILS_MAX = 16;

/** The two operations of the platform side (sections 4.1 and 4.2). */
export const addGameRoutes = (
  app: FastifyInstance,
  options: Lanes & { auditTimeZone: string; onRequest: onRequestAsyncHookHandler[] },
): void => {
  const { onRequest } = options;
  const readPage = createPageReader(options);
  const readDetail = inTurn(options, selectCatalogueDetails, {
    keyOf: ({ scope, game_id }: DetailAsked) => `${scope ?? ''} ${game_id}`,
    most: DETAILS_MAX,
  });
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
      const game = await answerTo(request, (scope) => readDetail({ scope, game_id }));
      return success(game ?? null);
    },
  );
};
