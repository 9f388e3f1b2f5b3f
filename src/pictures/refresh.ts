/**
 * From an address to stored thumbnails: claims the picture, requests it, decodes bytes that are new, records the result,
 * and compares the bytes with those that decisions name.
 */
import { createHash } from 'node:crypto';
import type { Database } from '#db/client.ts';
import {
  type ClaimedPicture,
  claimPicture,
  findContent,
  isDue,
  recordResult,
  releasePicture,
  saveContent,
} from '#db/queries/picture-fetches.ts';
import type { PictureAddress } from '#db/queries/pictures.ts';
import type { PictureOutcome } from '#src/contract/pictures.ts';
import type { EgressPolicy } from '#src/egress/egress.ts';
import { comparePins, type ReopenGames } from '#src/pictures/compare-pins.ts';
import type { Decoder } from '#src/pictures/decoder.ts';
import { createPictureAgent, fetchPicture, type PictureAnswer } from '#src/pictures/fetch-picture.ts';
import { createHostLimiter, type RequestResult, type TurnLimits } from '#src/pictures/host-limiter.ts';
import type { PictureKeeper } from '#src/pictures/keeper.ts';
import { type PictureRequested, pictureRequested } from '#src/pictures/picture-requested.ts';
import { freshFailureMs, freshMs, sniffImage } from '#src/rules/pictures.ts';

/** Stands for bytes that were not read to their end. */
const TOO_LARGE = Buffer.from([0]);

/** After a failure of the store, bytes are requested again after this time. */
const UNKEPT_MS = 60_000;

type Purpose = PictureRequested['purpose'];

/** After `waitMs`, a job gives up and frees its place. A check waits half as long as a look, so a look behind it has the other half. */
const TURN_LIMITS: Record<Purpose, TurnLimits> = {
  look: { waitMs: 20_000, againMs: 5_000 },
  check: { waitMs: 10_000, againMs: 15 * 60_000 },
};

/**
 * `outcome` is undefined if no request was necessary: the last result is fresh, or another process requests the picture.
 * `drifted`: the ids of passed games that returned to `pending`.
 */
export type Refreshed = RequestResult & { outcome: PictureOutcome | undefined; drifted: readonly string[] };

export type PictureOptions = {
  sql: Database;
  egress: EgressPolicy;
  decoder: Decoder;
  /** Absent: bytes are not kept. */
  keeper?: PictureKeeper | undefined;
  maxBytes: number;
  recheckMs: number;
  requestMs?: number;
  turnLimits?: Record<Purpose, TurnLimits>;
  reopenGames: ReopenGames;
};

export type Pictures = {
  /**
   * Requests a picture unless its last result is fresh.
   * @param purpose a `check` needs the hash alone; a `look` also the thumbnails
   * @throws the reason of the signal; errors of the database
   */
  refresh: (picture: PictureAddress, purpose: Purpose, signal: AbortSignal) => Promise<Refreshed>;
  /**
   * Compares a picture that was not requested, because another request may have brought other bytes. @returns the games
   * that have drifted
   */
  compare: (picture_id: string) => Promise<string[]>;
  close: () => void;
};

const NOT_NEEDED: Refreshed = { outcome: undefined, drifted: [] };

/** Notes a Content-Type that does not match the bytes. */
const noteOf = (contentType: string, format: string): string | null => {
  const right = `image/${format === 'svg' ? 'svg+xml' : format}`;
  if (contentType === right || (format === 'jpeg' && contentType === 'image/jpg')) return null;
  const said = /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : 'no known type';
  return `sent as ${said}, is ${format}`;
};

export const createPictures = (options: PictureOptions): Pictures => {
  const { sql, decoder, keeper, recheckMs, reopenGames, turnLimits = TURN_LIMITS } = options;
  const hosts = createHostLimiter();
  const agent = createPictureAgent(options.egress);

  const compare = (picture_id: string): Promise<string[]> => comparePins(sql, picture_id, reopenGames);

  /** Stores the content of bytes that are not known yet. @returns what they are */
  const keepContent = async (
    sha256: Buffer,
    bytes: Buffer,
    spend: (ms: number) => void,
  ): Promise<PictureOutcome> => {
    const known = await findContent(sql, sha256);
    if (known?.whole && known.outcome !== 'undecodable') return known.outcome;
    const format = sniffImage(bytes);
    const nothing = { width: null, height: null, frames: null, dhash: null, thumbnails: [] };
    const about = { sha256, bytes: bytes.length, format };
    if (format === null || format === 'svg') {
      const outcome = format ?? 'not_an_image';
      await saveContent(sql, { ...about, ...nothing, outcome });
      return outcome;
    }
    const decoded = await decoder.decode({ bytes, format }, spend);
    await saveContent(sql, { ...about, ...nothing, ...decoded });
    return decoded.outcome;
  };

  const record = async (
    claimed: ClaimedPicture,
    answer: PictureAnswer,
    spend: (ms: number) => void,
  ): Promise<PictureOutcome> => {
    const { picture_id } = claimed;
    if (answer.kind === 'failed' && answer.outcome !== 'too_large') {
      const { outcome, http_status, retryAfterMs } = answer;
      const fresh = freshFailureMs(claimed.url, outcome, recheckMs, new Date());
      await recordResult(sql, { picture_id, outcome, http_status, freshMs: retryAfterMs ?? fresh });
      return outcome;
    }
    if (answer.kind === 'unchanged') {
      const outcome = (claimed.sha256 && (await findContent(sql, claimed.sha256))?.outcome) ?? 'shown';
      await recordResult(sql, { picture_id, outcome, http_status: 304, freshMs: freshMs(false, recheckMs) });
      return outcome;
    }
    const result = { picture_id, http_status: 200, freshMs: freshMs(false, recheckMs) };
    if (answer.kind === 'failed') {
      await recordResult(sql, {
        ...result,
        outcome: answer.outcome,
        sha256: TOO_LARGE,
        etag: null,
        note: null,
      });
      return answer.outcome;
    }
    const { bytes, contentType, etag } = answer;
    const sha256 = createHash('sha256').update(bytes).digest();
    const outcome = await keepContent(sha256, bytes, spend);
    const format = sniffImage(bytes);
    const unkept =
      outcome === 'shown' && format !== null && format !== 'svg'
        ? await keeper?.keep({ sha256: sha256.toString('hex'), format }, bytes)
        : undefined;
    const note = unkept ?? (format === null ? null : noteOf(contentType, format));
    const fresh = unkept === undefined ? result.freshMs : UNKEPT_MS;
    await recordResult(sql, { ...result, outcome, sha256, etag, note, freshMs: fresh });
    return outcome;
  };

  const request = async (
    address: PictureAddress,
    purpose: Purpose,
    signal: AbortSignal,
  ): Promise<Refreshed> => {
    const claimed = await claimPicture(sql, address, keeper !== undefined);
    if (claimed === undefined) return NOT_NEEDED;
    const isStored = keeper === undefined || !claimed.is_unstored;
    const isKept = claimed.has_content && isStored && (purpose === 'check' || claimed.whole);
    const answer = await fetchPicture(
      { url: address.url, etag: isKept ? claimed.etag : null },
      { ...options, agent },
      signal,
    ).catch(async (error: unknown) => {
      await releasePicture(sql, claimed.picture_id).catch(() => {});
      throw error;
    });
    const refreshed = await finish(claimed, answer);
    pictureRequested.publish({
      outcome: answer.kind === 'unchanged' ? 'unchanged' : refreshed.outcome,
      purpose,
      driftedGames: refreshed.drifted.length,
    });
    return refreshed;
  };

  const finish = async (
    claimed: ClaimedPicture,
    answer: PictureAnswer,
  ): Promise<Refreshed & { outcome: PictureOutcome }> => {
    let decodeMs = 0;
    const outcome = await record(claimed, answer, (ms) => {
      decodeMs = ms;
    });
    const isFailure = answer.kind === 'failed';
    const drifted = isFailure && answer.outcome !== 'too_large' ? [] : await compare(claimed.picture_id);
    return { outcome, drifted, decodeMs, ...(isFailure && { failure: answer }) };
  };

  return {
    refresh: async (address, purpose, signal) => {
      // A picture that is not due takes no turn of a slow host.
      if (hosts.isBehind(address.url) && !(await isDue(sql, address, keeper !== undefined)))
        return NOT_NEEDED;
      return hosts.run(
        { ...address, turnLimits: turnLimits[purpose] },
        () => request(address, purpose, signal),
        async (failure) => {
          if (failure.isPause) return { ...NOT_NEEDED, failure };
          const claimed = await claimPicture(sql, address, keeper !== undefined);
          if (claimed === undefined) return NOT_NEEDED;
          // No request was sent, so the status of an earlier response is not that of this picture.
          const own =
            failure.outcome === 'busy' ? {} : ({ outcome: 'not_requested', http_status: null } as const);
          return finish(claimed, { kind: 'failed', ...failure, ...own });
        },
      );
    },
    compare,
    close: agent.close,
  };
};
