/** The platform's stream, as the operator API lists it and as subscriptions are sent it. */
import { z } from 'zod';
import { eventSchema, explain } from '#src/contract/events.ts';
import { must, wholeNumber } from '#src/contract/platform.ts';
import {
  type GAME_EVENT_TYPES,
  KYC_STATES,
  STREAM_TYPES,
  type StreamType,
  VERDICT_ENDINGS,
  VERDICTS,
} from '#src/contract/words.ts';

export const STREAM_MAX = 1_000;

const PLACE = /^(\d{1,15}|latest)?$/;

export const streamTypes = z.array(z.enum(STREAM_TYPES)).max(STREAM_TYPES.length).default([]);

/** Request of the stream. */
export const streamRequestSchema = z
  .object({
    after: z
      .string(must('a string'))
      .regex(PLACE, 'must be "", "latest" or next of a response')
      .default('')
      .meta({
        description:
          '`next` of the last response. "": from the oldest event that is kept, 90 days. "latest": no event, and where the next one follows.',
        examples: ['', '1042', 'latest'],
      }),
    limit: wholeNumber()
      .max(STREAM_MAX, `must be at most ${STREAM_MAX}`)
      .default(STREAM_MAX)
      .meta({ description: 'Events of the response, at most.' }),
    types: streamTypes.meta({ description: 'Only events of these types; [] for all.' }),
  })
  .meta({ id: 'StreamRequest' });
export type StreamRequest = z.infer<typeof streamRequestSchema>;

/** The types that only the platform receives; the others are those of applications. */
const OWN_TYPES: Record<Exclude<StreamType, (typeof GAME_EVENT_TYPES)[number]>, string> = {
  'game.received': 'A new game.',
  'game.changed': 'New content of a game or another package URL, in any status.',
  'game.answered': 'Its developer wrote.',
  'game.appealed': 'Its developer appeals the rejection.',
  'kyc.changed': 'The KYC record of an application, or its state.',
  'kyc.verdict': 'A verdict on the developer was given or has ended.',
  'application.added': 'An application was registered.',
  'application.updated': 'Its settings changed.',
  'application.paused': 'It is paused.',
  'application.resumed': 'It is active again.',
  'application.removed': 'Its games are withdrawn by it, without events of their own.',
  'run.suspect': 'A run would withdraw too many games, and waits for an operator.',
};

const eventData = eventSchema.shape.data.shape;

/** One event of the stream: element of data.list[], and the body of a delivery. */
const streamEventSchema = z
  .object({
    event_id: eventSchema.shape.event_id,
    type: z.enum(STREAM_TYPES).meta({ description: `What applications receive. ${explain(OWN_TYPES)}` }),
    timestamp: eventSchema.shape.timestamp,
    data: z
      .object({
        application_id: z.string().meta({ examples: ['acme'] }),
        game_id: eventData.game_id.optional(),
        application_game_id: eventData.application_game_id.optional(),
        revision: eventData.revision.optional(),
        game_name: eventData.game_name.optional(),
        audit_status: eventData.audit_status.optional(),
        audit_time: eventData.audit_time.optional(),
        why: eventData.why.optional(),
        reason: eventData.reason,
        reason_label: eventData.reason_label,
        text: eventData.text,
        state: z
          .enum(KYC_STATES)
          .optional()
          .meta({ description: 'Of kyc.changed: the state of the record.' }),
        changed_fields: z
          .array(z.string())
          .optional()
          .meta({ description: 'Of kyc.changed: the names of the fields that changed, never a value.' }),
        verdict: z.enum(VERDICTS).optional().meta({ description: 'Of kyc.verdict.' }),
        verdict_state: z
          .enum(['standing', ...VERDICT_ENDINGS])
          .optional()
          .meta({ description: 'Of kyc.verdict: whether it stands, or how it ended.' }),
        run_id: z.string().optional().meta({ description: 'Of run.suspect.' }),
      })
      .meta({ id: 'StreamEventData' }),
  })
  .meta({ id: 'StreamEvent' });
export type StreamDocument = z.infer<typeof streamEventSchema>;

/** Response of the stream. */
export const streamSchema = z.object({
  list: z.array(streamEventSchema).describe('In their order; [] when there is none yet.'),
  next: z.string().describe('`after` of the next call.'),
});
