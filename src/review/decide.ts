import { randomUUIDv7 } from 'node:crypto';
import type { Database, Queryable } from '#db/client.ts';
import { type Actor, recordAudit } from '#db/queries/audit.ts';
import {
  type DecidableGame,
  insertDecisions,
  listDecisions,
  lockGames,
  readDecidableGames,
  undoDecisions,
} from '#db/queries/decisions.ts';
import { findFetchingGames } from '#db/queries/fetching-games.ts';
import type { GameAuditRow } from '#db/queries/games.ts';
import { checkPinsOf, lockPictures, pinPictures } from '#db/queries/picture-pins.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { transact } from '#db/transact.ts';
import { storableText } from '#src/contract/text.ts';
import { type AuditStatus, DECISION_VERBS, type Decision } from '#src/contract/words.ts';
import { UsageError } from '#src/errors.ts';
import {
  type DecisionResult,
  judgeDecision,
  judgeUndo,
  type SeenRevision,
  type UndoResult,
} from '#src/review/verdicts.ts';

/** Games of one decision. */
export const DECISION_GAMES_MAX = 1_000;
/** Characters of the public text and of the private note of a decision. */
export const DECISION_TEXT_MAX = 4_000;

export type DecisionRequest = {
  audit_status: Decision;
  /** A code of `reasons`; required to reject, not allowed to pass. */
  reason?: string | undefined;
  /** For the application's developer. */
  text?: string | undefined;
  /** For operators. */
  note?: string | undefined;
  /** The status that the reviewer saw: a game in another one is not decided. Absent: any. */
  seen_status?: AuditStatus | undefined;
  /** Is there a store of pictures? Then a game is not passed before every picture was fetched and stored. */
  keeps_pictures?: boolean;
};

/** `game` is the game after a decision or an undo, with the last decision that stands; null if there is none. */
type Outcome<Result> = Pick<SeenRevision, 'game_id' | 'revision'> & {
  result: Result;
  game: DecidableGame | null;
};
export type GameDecision = Outcome<DecisionResult>;
export type GameUndo = Outcome<UndoResult> & { audit_id: number };
/** `batch_id` is null unless several games were given and at least one was decided. */
export type DecidedBatch = { batch_id: string | null; games: GameDecision[] };

/**
 * A form sends each line break as CRLF and counts it as one character: it is stored as LF.
 * @throws UsageError for a text that is too long or cannot be stored
 * @returns null for an empty one
 */
const checkText = (name: string, text = ''): string | null => {
  const trimmed = text.replaceAll('\r\n', '\n').trim();
  const checked = storableText(DECISION_TEXT_MAX).safeParse(trimmed);
  if (!checked.success) throw new UsageError(`The ${name} ${checked.error.issues[0]?.message}.`);
  return trimmed === '' ? null : trimmed;
};

/** @throws UsageError that lists the reasons */
const checkReason = async (sql: Queryable, { audit_status, reason }: DecisionRequest): Promise<void> => {
  if (audit_status === 'passed') {
    if (reason !== undefined) throw new UsageError('A pass has no reason. Write a note instead.');
    return;
  }
  const codes = (await listReasons(sql)).filter((row) => row.retired_at === null).map((row) => row.code);
  if (reason === undefined || !codes.includes(reason))
    throw new UsageError(
      `${reason === undefined ? 'A rejection needs a reason' : `There is no reason "${reason}"`}: choose one of ${codes.join(', ')}.`,
    );
};

/**
 * Pass or reject games at the revisions that the reviewer saw, in one transaction with the audit log. A game whose
 * content has moved since, or that is withdrawn, keeps its status; the others are decided. Several games make a batch,
 * which can be read (`listBatch`) and undone later.
 * @returns one result for each different pair of `seen`, in its order
 * @throws UsageError for too many games, a wrong reason, or a text that is too long
 */
export const decideGames = async (
  sql: Database,
  seen: readonly SeenRevision[],
  request: DecisionRequest,
  actor: Actor,
): Promise<DecidedBatch> => {
  const pairs = [...new Map(seen.map((pair) => [`${pair.game_id}@${pair.revision}`, pair])).values()];
  if (pairs.length > DECISION_GAMES_MAX)
    throw new UsageError(`Decide on at most ${DECISION_GAMES_MAX} games at once, not ${pairs.length}.`);
  const text = checkText('text', request.text);
  const note = checkText('note', request.note);
  await checkReason(sql, request);
  const { audit_status, reason = null, seen_status } = request;
  const wanted = { audit_status, reason, text, seen_status };
  const batch_id = pairs.length > 1 ? randomUUIDv7() : null;
  const game_ids = pairs.map((pair) => pair.game_id);
  return transact(sql, async (tx) => {
    await lockGames(tx, game_ids);
    const before = await readDecidableGames(tx, game_ids);
    const haveMoved = await findMovedPictures(tx, pairs);
    const isPass = audit_status === 'passed' && request.keeps_pictures === true;
    const fetching = isPass ? await findFetchingGames(tx, game_ids) : new Set();
    const judged = pairs.map(({ game_id, revision }): Omit<GameDecision, 'game'> => {
      const result = judgeDecision({ game_id, revision }, before.get(game_id), wanted);
      if (result !== 'decided') return { game_id, revision, result };
      const refused = haveMoved.has(game_id) ? 'moved' : fetching.has(game_id) ? 'fetching' : result;
      return { game_id, revision, result: refused };
    });
    const standing = judged.filter(({ result }) => result === 'decided').map(({ game_id }) => game_id);
    if (standing.length === 0) return { batch_id: null, games: describe(judged, before) };
    const decision = { audit_status, decided_by: actor.actor, reason, text, note, batch_id };
    const decisions = await insertDecisions(tx, standing, decision);
    await pinPictures(
      tx,
      decisions.map(({ audit_id }) => audit_id),
    );
    const games = describe(judged, await readDecidableGames(tx, game_ids));
    await auditDecisions(tx, actor, decisions);
    return { batch_id, games };
  });
};

/** The games of which a picture has other bytes than were on the screen. Their pictures stay as they are until the end. */
const findMovedPictures = async (tx: Queryable, seen: readonly SeenRevision[]): Promise<Set<string>> => {
  const ids = seen.flatMap(({ seen_pictures }) => [...(seen_pictures?.keys() ?? [])]);
  const now = ids.length === 0 ? new Map() : await lockPictures(tx, ids);
  const hasMoved = ([id, sha256]: [string, string]) => (now.get(id) ?? '').padEnd(64, '0') !== sha256;
  return new Set(
    seen
      .filter(({ seen_pictures }) => [...(seen_pictures ?? [])].some(hasMoved))
      .map(({ game_id }) => game_id),
  );
};

const describe = <Judged extends { game_id: string }>(
  judged: readonly Judged[],
  games: ReadonlyMap<string, DecidableGame>,
) => judged.map((each) => ({ ...each, game: games.get(each.game_id) ?? null }));

const auditDecisions = (tx: Queryable, actor: Actor, decisions: readonly GameAuditRow[], undo = false) =>
  recordAudit(
    tx,
    decisions.map(({ game_id, audit_id, audit_status, revision, reason, batch_id }) => ({
      ...actor,
      action: undo ? 'game.undo' : (`game.${DECISION_VERBS[audit_status]}` as const),
      subject: `game:${game_id}`,
      reason: undo ? null : reason,
      details: { revision, audit_id, ...(batch_id === null ? {} : { batch_id }) },
    })),
  );

/**
 * Undo decisions: each game returns to the status that it had before, unless its content has changed or there is a
 * later decision. The decisions of a batch: `listBatch`.
 * @returns one result for each decision
 * @throws UsageError when there is no such decision
 */
export const undoGameDecisions = (
  sql: Database,
  audit_ids: readonly number[],
  actor: Actor,
): Promise<GameUndo[]> =>
  transact(sql, async (tx) => {
    const game_ids = (await listDecisions(tx, audit_ids)).map((decision) => decision.game_id);
    await lockGames(tx, game_ids);
    const decisions = await listDecisions(tx, audit_ids);
    if (decisions.length === 0)
      throw new UsageError(
        'There is no such decision. npx catalogue game show GAME lists those of a game by number; pass and reject print the id of a batch.',
      );
    const before = await readDecidableGames(tx, game_ids);
    const judged = decisions.map((decision) => ({
      game_id: decision.game_id,
      audit_id: decision.audit_id,
      revision: decision.revision,
      result: judgeUndo(decision, before.get(decision.game_id)),
    }));
    const standing = decisions.filter((_, index) => judged[index]?.result === 'undone');
    if (standing.length === 0) return describe(judged, before);
    await undoDecisions(
      tx,
      standing.map(({ audit_id }) => audit_id),
      actor.actor,
    );
    await checkPinsOf(
      tx,
      standing.map(({ game_id }) => game_id),
    );
    const games = describe(judged, await readDecidableGames(tx, game_ids));
    await auditDecisions(tx, actor, standing, true);
    return games;
  });
