/** Additions to the interface document: what an application's developer writes about one of its games. */
import { z } from 'zod';
import { must, platformGameId, successOf } from '#src/contract/platform.ts';
import { PROSE_MAX } from '#src/contract/text.ts';

export const MESSAGE_PATH = '/open-api/game/message';
export const APPEAL_PATH = '/open-api/game/appeal';

/** Request of game.message and game.appeal. The operation checks the text, as it does the portal's. */
export const writeRequestSchema = z
  .object({
    game_id: platformGameId,
    text: z
      .string(must('a string'))
      .meta({ description: `What you write, ${PROSE_MAX} characters at most.`, maxLength: PROSE_MAX }),
  })
  .meta({ id: 'WriteRequest' });
export type WriteRequest = z.infer<typeof writeRequestSchema>;

export const writeResponseSchema = successOf(
  z
    .object({
      game_id: platformGameId,
      written_at: z.iso.datetime().meta({ description: 'When it was stored, in UTC.' }),
    })
    .meta({ id: 'Written' }),
).meta({ id: 'WriteResponse' });
