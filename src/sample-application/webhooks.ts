import { z } from 'zod';
import {
  type ApplicationGameDetail,
  type ApplicationGameSummary,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
} from '#src/contract/application.ts';
import { type Envelope, RET_CODE_SUCCESS, RET_MSG_SUCCESS } from '#src/contract/envelope.ts';
import type { Operation } from '#src/contract/words.ts';
import type { SampleGames } from '#src/sample-application/game-data.ts';

/** A response: HTTP status and the envelope of section 2.1. */
export type WebhookResponse = { status: number; envelope: Envelope };

export const succeed = (data: unknown): WebhookResponse => ({
  status: 200,
  envelope: { ret_code: RET_CODE_SUCCESS, ret_msg: RET_MSG_SUCCESS, data },
});

/** `ret_code` is the HTTP status times 100 plus 1, like the failure codes of the platform. */
export const fail = (status: number, retMsg: string): WebhookResponse => ({
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

/** Validates a request before `handle`. A request that does not match fails with the name of its first wrong field. */
const webhook =
  <Schema extends z.ZodType>(schema: Schema, handle: (request: z.infer<Schema>) => unknown) =>
  (body: unknown): WebhookResponse => {
    const request = schema.safeParse(body);
    if (request.success) return succeed(handle(request.data));
    const [issue] = request.error.issues;
    return fail(400, `${issue?.path.join('.') || 'the body'}: ${issue?.message ?? 'is invalid'}`);
  };

/** A game whose addresses are signed. */
const signGame = (game: ApplicationGameDetail, sign: (address: string) => string): ApplicationGameDetail => ({
  ...game,
  game_icon: game.game_icon.map(sign),
  game_store_video: game.game_store_video === '' ? '' : sign(game.game_store_video),
  game_store_pic: game.game_store_pic.map(sign),
});

/**
 * The three webhooks of section 4. Each maps the parsed body of a request to a response.
 * @param sign signs the addresses of each response. Absent: games are answered as a test made them
 */
export const webhooksOf = (
  games: SampleGames,
  sign?: (address: string) => string,
): Record<Operation, (body: unknown) => WebhookResponse> => {
  const answer = (game: ApplicationGameDetail): ApplicationGameDetail =>
    sign === undefined ? game : signGame(game, sign);
  return {
    query_game_list: webhook(queryGameListRequest, ({ page_num, page_size }) => ({
      total: games.size,
      list: games.page(page_num, page_size).map((game) => toSummary(answer(game))),
    })),
    query_game_detail: webhook(queryGameDetailRequest, ({ game_id }) => {
      const game = games.get(game_id);
      return game && answer(game);
    }),
    query_cp_kyc: webhook(queryCpKycRequest, () => games.kyc),
  };
};
