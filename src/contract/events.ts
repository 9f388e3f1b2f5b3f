/** Additions to the interface document: what an application hears of its games, and how it requests a pull. */
import { z } from 'zod';
import { PAGE_SIZE_MAX } from '#src/contract/application.ts';
import {
  auditStatusSchema,
  auditTime,
  gameName,
  must,
  platformGameId,
  successOf,
  wholeNumber,
} from '#src/contract/platform.ts';
import { identifier } from '#src/contract/text.ts';
import { EVENT_TYPES, EVENT_WHYS } from '#src/contract/words.ts';

export const LIST_EVENTS_PATH = '/open-api/event/list';

export const EVENTS_MAX = 100;

const eventId = z.string().meta({
  description: 'Id of the event, also the `webhook-id` of its delivery.',
  examples: ['019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b'],
});

const UUID_OR_EMPTY = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/i;

/** Request of event.list. */
export const listEventsRequestSchema = z
  .object({
    after: z
      .string(must('a string'))
      .regex(UUID_OR_EMPTY, 'must be "" or the event_id of one of your events')
      .default('')
      .meta({ description: '`next` of the last response; "" for the first call.', examples: [''] }),
    limit: wholeNumber()
      .max(EVENTS_MAX, `must be at most ${EVENTS_MAX}`)
      .default(EVENTS_MAX)
      .meta({ description: 'Events of the response, at most.' }),
  })
  .meta({ id: 'ListEventsRequest' });
export type ListEventsRequest = z.infer<typeof listEventsRequestSchema>;

/** One change of a game's status, or what else an application hears: element of data.list[] of event.list, and the body of a delivery. */
export const eventSchema = z
  .object({
    event_id: eventId,
    type: z.enum(EVENT_TYPES).meta({
      description:
        'game.passed, game.rejected or game.pending: the audit_status of the game from now on. game.withdrawn: the game is no longer listed. game.message: a reviewer wrote to you. game.appeal_upheld: your appeal was decided, and the game stays rejected.',
    }),
    timestamp: z.iso.datetime().meta({ description: 'When it happened, in UTC.' }),
    data: z
      .object({
        game_id: platformGameId,
        application_game_id: z.string().meta({ description: 'Your game_id.', examples: ['g-17'] }),
        game_name: gameName,
        audit_status: auditStatusSchema,
        audit_time: auditTime,
        revision: z.int().min(1).meta({ description: 'Version of the content, from 1.' }),
        why: z.enum(EVENT_WHYS).meta({
          description:
            'decided: by a reviewer. decision_undone: a reviewer took a decision back. content_changed, pictures_changed: the game changed after its decision and waits for another one. not_listed: your list does not name the game. returned: your list names the game again, or its detail was pulled. appeal: your appeal was decided. message: a reviewer wrote to you.',
        }),
        reason: z
          .string()
          .optional()
          .meta({
            description: 'Only of game.rejected: the code of the reason; "" if there is none.',
            examples: ['incomplete'],
          }),
        reason_label: z
          .string()
          .optional()
          .meta({ description: 'Only of game.rejected: the reason in words.' }),
        text: z.string().optional().meta({
          description:
            'Of game.rejected: the reviewer\'s text for you; "" if there is none. Of game.message: the message. With why appeal: why the appeal was decided so.',
        }),
      })
      .meta({ id: 'EventData' }),
  })
  .meta({ id: 'Event' });
export type EventDocument = z.infer<typeof eventSchema>;

export const listEventsResponseSchema = successOf(
  z
    .object({
      list: z.array(eventSchema).meta({ description: 'In their order; [] when there is none yet.' }),
      next: z.string().meta({ description: '`after` of the next call.' }),
    })
    .meta({ id: 'EventList' }),
).meta({ id: 'ListEventsResponse' });

export const REFRESH_PATH = '/open-api/game/refresh';

/** Request of game.refresh. */
export const refreshRequestSchema = z
  .object({
    game_ids: z
      .array(identifier, must('an array of strings'))
      .max(PAGE_SIZE_MAX, `must have at most ${PAGE_SIZE_MAX} ids`)
      .meta({ description: 'Your game_ids; [] requests the whole list, with every detail.' }),
  })
  .meta({ id: 'RefreshRequest' });
export type RefreshRequest = z.infer<typeof refreshRequestSchema>;

export const refreshResponseSchema = successOf(
  z
    .object({ accepted: z.int().min(0).meta({ description: 'Different ids; 1 for the whole list.' }) })
    .meta({ id: 'Refresh' }),
).meta({ id: 'RefreshResponse' });
