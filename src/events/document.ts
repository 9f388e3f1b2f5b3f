import type { SentEvent } from '#db/queries/events.ts';
import type { StreamEvent } from '#db/queries/stream.ts';
import type { EventDocument } from '#src/contract/events.ts';
import type { StreamDocument } from '#src/contract/stream.ts';

/** Writes `audit_time` as section 2.2 has it. */
export type FormatAuditTime = (audit_time: Date | null) => string;

/**
 * An event as it leaves the platform, in `event/list` and in a delivery: equal bytes at each attempt.
 */
export const toEventDocument = (
  { event_id, type, created_at, data }: SentEvent,
  formatAuditTime: FormatAuditTime,
): EventDocument => {
  const { game_id, application_game_id, game_name, audit_status, audit_time, revision, why } = data;
  const { reason, reason_label, text } = data;
  return {
    event_id,
    type,
    timestamp: created_at.toISOString(),
    data: {
      game_id,
      application_game_id,
      game_name,
      audit_status,
      audit_time: formatAuditTime(audit_time === '' ? null : new Date(audit_time)),
      revision,
      why,
      ...(reason !== undefined && { reason, reason_label }),
      ...(text !== undefined && { text }),
    },
  };
};

/** An event as the platform's stream has it: with the data that its application receives, if it receives the event. */
export const toStreamDocument = (
  { data, facts, application_id, ...event }: StreamEvent,
  formatAuditTime: FormatAuditTime,
): StreamDocument => {
  const { event_id, type, created_at, game_id, application_game_id, revision } = event;
  const received =
    data &&
    toEventDocument({ event_id, type: type as EventDocument['type'], created_at, data }, formatAuditTime)
      .data;
  const game =
    game_id === null
      ? {}
      : { game_id, application_game_id: application_game_id ?? '', revision: revision ?? 0 };
  return {
    event_id,
    type,
    timestamp: created_at.toISOString(),
    data: { application_id, ...game, ...received, ...facts },
  };
};
