import { z } from 'zod';
import {
  type ApplicationGameDetail,
  type ApplicationGameSummary,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
} from '#src/contract/application.ts';
import { type Envelope, RET_CODE_SUCCESS, RET_MSG_SUCCESS } from '#src/contract/envelope.ts';
import type { Operation } from '#src/contract/words.ts';
import type { SampleCatalogue } from '#src/sample-application/game-data.ts';

/** What one request is answered: an HTTP status and the envelope of section 2.1. */
export type WebhookAnswer = { status: number; envelope: Envelope };

/** An answer of success. */
export const succeed = (data: unknown): WebhookAnswer => ({
  status: 200,
  envelope: { ret_code: RET_CODE_SUCCESS, ret_msg: RET_MSG_SUCCESS, data },
});

/** An answer of failure: the matching status, and a ret_code of status times 100 plus 1, as the platform does. */
export const fail = (status: number, retMsg: string): WebhookAnswer => ({
  status,
  envelope: { ret_code: status * 100 + 1, ret_msg: retMsg, data: null },
});

/** Section 4.4. */
const queryGameListRequest = z.object({
  page_num: z.int().min(1).default(1),
  page_size: z.int().min(1).max(PAGE_SIZE_MAX).default(PAGE_SIZE_DEFAULT),
});
/** Section 4.5. */
const queryGameDetailRequest = z.object({ game_id: z.string().min(1) });
/** Section 4.3. */
const queryCpKycRequest = z.object({});

/** Section 2.4: the list carries one icon, the detail several. */
const toSummary = ({ game_id, game_name, game_icon }: ApplicationGameDetail): ApplicationGameSummary => ({
  game_id,
  game_name,
  game_icon: game_icon[0] ?? '',
});

/** A handler that is only called with a request its schema accepts; else the answer names the first wrong field. */
const webhook =
  <Schema extends z.ZodType>(schema: Schema, handle: (request: z.infer<Schema>) => unknown) =>
  (body: unknown): WebhookAnswer => {
    const request = schema.safeParse(body);
    if (request.success) return succeed(handle(request.data));
    const [issue] = request.error.issues;
    return fail(400, `${issue?.path.join('.') || 'the body'}: ${issue?.message ?? 'is invalid'}`);
  };

/** The three webhooks of section 4 over a catalogue: from the parsed body to the answer. */
export const webhooksOf = (
  catalogue: SampleCatalogue,
): Record<Operation, (body: unknown) => WebhookAnswer> => ({
  query_game_list: webhook(queryGameListRequest, ({ page_num, page_size }) => ({
    total: catalogue.size,
    list: catalogue.page(page_num, page_size).map(toSummary),
  })),
  query_game_detail: webhook(queryGameDetailRequest, ({ game_id }) => catalogue.get(game_id)),
  query_cp_kyc: webhook(queryCpKycRequest, () => catalogue.kyc),
});
