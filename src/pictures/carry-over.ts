/**
 * If nothing of a game has changed but the addresses of its pictures (a new host, a new path), and every picture has the
 * bytes that the last decision names, that decision stands for the new revision too. Until the bytes are compared, the game
 * is pending.
 */
import type { Database } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import {
  type CarryCandidate,
  carryOver,
  listFetched,
  readPictureHashes,
  scheduleCarry,
} from '#db/queries/carried-decisions.ts';
import { placesOf } from '#db/queries/picture-pins.ts';
import type { Pictures } from '#src/pictures/refresh.ts';
import { mayCarryOver, nextCarryMs } from '#src/rules/carry-over.ts';

/** Hex characters of a SHA-256. The pin of a picture without bytes, or with too many, is shorter. */
const SHA256_HEX = 64;

/**
 * Compares the pictures of one game with its last decision, or schedules the next attempt.
 * @returns whether its decision was carried over
 */
export const carryOverOne = async (
  { sql, pictures }: { sql: Database; pictures: Pictures },
  candidate: CarryCandidate,
  signal: AbortSignal,
): Promise<boolean> => {
  const { application_id, decided, now, pins } = candidate;
  const rule = (await readIdentityRules(sql, [candidate]))(application_id);
  const places = placesOf({ ...now, application_id, audit_id: candidate.audit_id }, rule);
  const pinned = new Map(pins.map((pin) => [`${pin.is_icon} ${pin.place}`, pin.sha256]));
  const wanted = places.map(({ is_icon, place }) => pinned.get(`${is_icon} ${place}`));
  const isBound = wanted.every((sha256) => sha256?.length === SHA256_HEX);
  if (!mayCarryOver(decided, now, rule) || !isBound) {
    await scheduleCarry(sql, candidate, null);
    return false;
  }
  const ids = places.map(({ picture_id }) => picture_id);
  // From a slow host, each attempt fetches some of the pictures. They are not fetched again before the decision stands.
  const fetched = await listFetched(sql, ids, candidate.waited_ms);
  const results = await Promise.all(
    places
      .filter(({ picture_id }) => !fetched.includes(picture_id))
      .map(({ url }) => pictures.refresh({ application_id, url }, 'check', signal)),
  );
  const hashes = await readPictureHashes(sql, ids);
  const differs = places.some(({ picture_id }, index) => {
    const sha256 = hashes.get(picture_id);
    return sha256 !== undefined && sha256 !== wanted[index];
  });
  const isIncomplete =
    places.some(({ picture_id }) => !hashes.has(picture_id)) ||
    results.some(({ failure }) => failure !== undefined);
  if (!differs && !isIncomplete && (await carryOver(sql, candidate, places))) return true;
  const again = differs ? undefined : nextCarryMs(candidate.waited_ms);
  const pauses = results.flatMap(({ failure }) => (failure?.isPause ? [failure.retryAfterMs ?? 0] : []));
  await scheduleCarry(sql, candidate, again === undefined ? null : Math.min(again, ...pauses));
  return false;
};
