import type { Database } from '#db/client.ts';
import { findStreamEnds, readStream } from '#db/queries/stream.ts';
import type { StreamDocument, StreamRequest } from '#src/contract/stream.ts';
import { CatalogueError } from '#src/errors.ts';
import { type FormatAuditTime, toStreamDocument } from '#src/events/document.ts';
import { placeEvents } from '#src/events/place-events.ts';

/** The stream does not continue at this place. */
export class GonePlaceError extends CatalogueError {
  override readonly name = 'GonePlaceError';

  constructor() {
    super(
      [
        'The stream does not continue at this place: its events are deleted by now (they are kept for 90 days),',
        'or the database was restored from before it. Copy the catalogue anew, from "latest".',
      ].join(' '),
    );
  }
}

/**
 * Reads the platform's stream. `after` and `next` are places in it. A reader who continues at `next` misses no event.
 * @throws GonePlaceError
 */
export const listStream = async (
  sql: Database,
  { after, limit, types }: StreamRequest,
  formatAuditTime: FormatAuditTime,
): Promise<{ list: StreamDocument[]; next: string }> => {
  // First, so that the response has every event that was committed before this call.
  await placeEvents(sql, 'stream_events');
  const { first, last } = await findStreamEnds(sql);
  if (after === 'latest') return { list: [], next: String(last ?? 0) };
  const position = Number(after);
  if (position > 0 && (position > (last ?? 0) || position < (first ?? 1) - 1)) throw new GonePlaceError();
  const { list, next } = await readStream(sql, { after: position, limit, types });
  return { list: list.map((event) => toStreamDocument(event, formatAuditTime)), next: String(next) };
};
