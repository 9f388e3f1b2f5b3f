import type { SentEvent } from '#db/queries/events.ts';
import type { EventDocument } from '#src/contract/events.ts';

/**
 * An event as it leaves the platform, in `event/list` and in a delivery: equal bytes at each attempt.
 * @param formatAuditTime writes `audit_time` as section 2.2 has it
 */
export const toEventDocument = (
  { event_id, type, created_at, data }: SentEvent,
  formatAuditTime: (audit_time: Date | null) => string,
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
      ...(reason !== undefined && { reason, reason_label, text }),
    },
  };
};
