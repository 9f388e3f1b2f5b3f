/** Additions to the interface document: what an application receives about its games, and how it requests a pull. */
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
import { EVENT_TYPES, EVENT_WHYS, type EventWhy } from '#src/contract/words.ts';

export const LIST_EVENTS_PATH = '/open-api/event/list';

const EVENTS_MAX = 100;

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

/** Explains each word of a field, for a description: "word: Sentence." */
export const explain = (sentences: Record<string, string>): string =>
  Object.entries(sentences)
    .map(([word, sentence]) => `${word}: ${sentence}`)
    .join(' ');

const NEW_STATUS = 'The audit_status of the game from now on.';
const TYPES: Record<(typeof EVENT_TYPES)[number], string> = {
  'game.passed': NEW_STATUS,
  'game.rejected': NEW_STATUS,
  'game.pending': NEW_STATUS,
  'game.withdrawn': 'The game is no longer listed.',
  'game.message': 'A reviewer wrote to you.',
  'game.appeal_upheld': 'Your appeal was decided, and the game stays rejected.',
  'webhook.test': 'A test: it has the form of every event, and is about no game.',
};

/** Why an event was sent, for its application's developer and for operators. */
export const WHYS: Record<EventWhy, string> = {
  decided: 'A reviewer decided.',
  decision_undone: 'A decision was taken back.',
  content_changed: 'Its content changed after the decision.',
  pictures_changed: 'Its pictures changed after the decision.',
  not_listed: 'The list no longer names it.',
  returned: 'The list names it again, or its detail was pulled.',
  held: 'The platform holds the games of the application.',
  released: 'The platform holds the games of the application no longer.',
  needs_verdict: 'It is listed again, and the platform has not verified its developer.',
  appeal: 'A reviewer decided the appeal.',
  message: 'A reviewer wrote to you.',
  test: 'A test event was requested.',
};

const TEXTS = {
  'game.rejected': 'What the reviewer wrote for you; "" if there is nothing.',
  'game.message': 'The message.',
  'why appeal': 'Why the appeal was decided so.',
};

/**
 * An event: a change of a game's status, a message, the result of an appeal, or a test. Element of data.list[] of
 * event.list, and the body of a delivery.
 */
export const eventSchema = z
  .object({
    event_id: eventId,
    type: z.enum(EVENT_TYPES).meta({ description: explain(TYPES) }),
    timestamp: z.iso.datetime().meta({ description: 'When it happened, in UTC.' }),
    data: z
      .object({
        game_id: platformGameId,
        application_game_id: z.string().meta({ description: 'Your game_id.', examples: ['g-17'] }),
        game_name: gameName,
        audit_status: auditStatusSchema,
        audit_time: auditTime,
        revision: z.int().min(1).meta({ description: 'Version of the content, from 1.' }),
        why: z.enum(EVENT_WHYS).meta({ description: explain(WHYS) }),
        reason: z
          .string()
          .optional()
          .meta({
            description: 'Only in game.rejected: the code of the reason; "" if there is none.',
            examples: ['incomplete'],
          }),
        reason_label: z
          .string()
          .optional()
          .meta({ description: 'Only in game.rejected: the reason in words.' }),
        text: z
          .string()
          .optional()
          .meta({ description: explain(TEXTS) }),
      })
      .meta({ id: 'EventData' }),
  })
  .meta({ id: 'Event' });
export type EventDocument = z.infer<typeof eventSchema>;

export const listEventsResponseSchema = successOf(
  z
    .object({
      list: z.array(eventSchema).meta({ description: 'Oldest first; [] when there is none yet.' }),
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
