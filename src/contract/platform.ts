import { z } from 'zod';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '#src/contract/application.ts';
import { RET_MSG_SUCCESS } from '#src/contract/envelope.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';

/** Paths of the two operations below {base_url} (sections 4.1 and 4.2). */
export const LIST_BY_AUDIT_STATUS_PATH = '/open-api/game/list-by-audit-status';
export const QUERY_DETAIL_PATH = '/open-api/game/query-detail';

/** Error text of a field, for `ret_msg`. It never contains the value. */
export const must = (be: string) => ({
  error: ({ input, code }: { input?: unknown; code?: string }) => {
    if (input === undefined) return 'is missing';
    return code === 'too_big' ? `must be at most ${Number.MAX_SAFE_INTEGER}` : `must be ${be}`;
  },
});

/** The states of a game (section 3). */
export const auditStatusSchema = z.enum(AUDIT_STATUSES, must('pending, passed or rejected')).meta({
  id: 'AuditStatus',
  description: 'pending: awaiting review; passed: approved; rejected: not approved.',
});

export const platformGameId = z.string(must('a string')).meta({
  description: 'Unique game identifier within the platform.',
  examples: ['019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b'],
});
export const gameName = z.string().meta({ description: 'Game name.', examples: ['Lantern Harbour'] });

export const auditTime = z
  .string()
  .regex(/^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})?$/)
  .meta({
    description: 'Time of the audit, yyyy-MM-dd HH:mm:ss; "" when the game has not been audited.',
    examples: ['', '2026-03-31 09:05:00'],
  });

export const wholeNumber = () => z.int(must('a whole number')).min(1, 'must be at least 1');

/** Request of game.listByAuditStatus (section 4.1). Page fields that are absent take their default. */
export const listByAuditStatusRequestSchema = z
  .object({
    audit_status: auditStatusSchema,
    page_num: wholeNumber().default(1).meta({ description: 'Page number, from 1.' }),
    page_size: wholeNumber()
      .max(PAGE_SIZE_MAX, `must be at most ${PAGE_SIZE_MAX}`)
      .default(PAGE_SIZE_DEFAULT)
      .meta({ description: 'Rows per page.' }),
  })
  .meta({ id: 'ListByAuditStatusRequest' });
export type ListByAuditStatusRequest = z.infer<typeof listByAuditStatusRequestSchema>;

/** Game summary, platform side: element of data.list[] (section 2.2). */
const gameSummarySchema = z
  .object({
    game_id: platformGameId,
    game_name: gameName,
    audit_status: auditStatusSchema,
    audit_time: auditTime,
  })
  .meta({ id: 'GameSummary' });

/** data of game.listByAuditStatus (section 4.1). */
const gameListSchema = z
  .object({
    total: z.int().min(0).meta({ description: 'Total number of games matching the filter.' }),
    list: z
      .array(gameSummarySchema)
      .meta({ description: '[] when there is no data, and past the last page.' }),
  })
  .meta({ id: 'GameList' });

/** Request of the platform-side game.queryDetail (section 4.2). */
export const queryDetailRequestSchema = z
  .object({ game_id: platformGameId })
  .meta({ id: 'QueryDetailRequest' });
export type QueryDetailRequest = z.infer<typeof queryDetailRequestSchema>;

/** Game detail, platform side (section 2.3). */
export const gameDetailSchema = z
  .object({
    game_id: platformGameId,
    game_name: gameName,
    game_icon: z.array(z.string()).meta({ description: 'Icon URLs; [] when there is no icon.' }),
    game_desc: z.string().meta({ description: 'Game description; "" when there is none.' }),
    game_package_url: z
      .string()
      .meta({ description: 'Game package download address; "" until the platform has set one.' }),
    game_store_video: z.string().meta({ description: 'Promotional video URL; "" when there is no video.' }),
    game_store_pic: z
      .array(z.string())
      .meta({ description: 'Store promotional image URLs; [] when there are none.' }),
    audit_status: auditStatusSchema,
  })
  .meta({ id: 'GameDetail' });
export type GameDetail = z.infer<typeof gameDetailSchema>;

/** The envelope of a success (section 2.1) around an operation's data. */
export const successOf = <Data extends z.ZodType>(data: Data) =>
  z.object({ ret_code: z.literal(0), ret_msg: z.literal(RET_MSG_SUCCESS), data });

export const listByAuditStatusResponseSchema = successOf(gameListSchema).meta({
  id: 'ListByAuditStatusResponse',
});
/** data is null when there is no data (section 4.2): no such game, or none that this token may read. */
export const queryDetailResponseSchema = successOf(gameDetailSchema.nullable()).meta({
  id: 'QueryDetailResponse',
});
