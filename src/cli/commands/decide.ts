/** Decisions of the command line. With a store of pictures, a pass waits until the pictures of its games are there. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor } from '#db/queries/audit.ts';
import { findFetchingGames } from '#db/queries/fetching-games.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatCount } from '#src/cli/kit/format.ts';
import {
  type DecidedBatch,
  type DecisionRequest,
  decideGames,
  type GameUndo,
  undoGameDecisions,
} from '#src/review/decide.ts';
import type { SeenRevision } from '#src/review/verdicts.ts';

const POLL_MS = 250;
/** A game whose pictures take longer is not passed: the operator tries again. */
const WAIT_MS = 60_000;

/** Has missing pictures of these games fetched, and waits for them. */
const fetchMissing = async (
  { openDatabase, openQueues, out }: CommandContext,
  game_ids: readonly string[],
): Promise<void> => {
  const sql = await openDatabase();
  let missing = await findFetchingGames(sql, game_ids);
  if (missing.size === 0) return;
  const { fetchPictures, PICTURED_GAMES_MAX } = await import('#src/ingest/specs.ts');
  const { producer } = await openQueues();
  const wanted = [...missing];
  for (let from = 0; from < wanted.length; from += PICTURED_GAMES_MAX)
    await producer.add(fetchPictures, { game_ids: wanted.slice(from, from + PICTURED_GAMES_MAX) });
  out.note(`Pictures of ${formatCount(missing.size, 'game')} are being fetched.`);
  const end = performance.now() + WAIT_MS;
  while (missing.size > 0 && performance.now() < end) {
    await sleep(POLL_MS);
    missing = await findFetchingGames(sql, [...missing]);
  }
};

const tidy = async ({ pictures, openQueues }: CommandContext, game_ids: readonly string[]): Promise<void> => {
  if (pictures.store === undefined) return;
  const { tidySoon } = await import('#src/ingest/tidy-soon.ts');
  await tidySoon((await openQueues()).producer, game_ids);
};

/** @throws what `decideGames` throws */
export const decide = async (
  context: CommandContext,
  seen: readonly SeenRevision[],
  request: DecisionRequest,
  actor: Actor,
): Promise<DecidedBatch> => {
  const keeps_pictures = context.pictures.store !== undefined;
  if (keeps_pictures && request.audit_status === 'passed')
    await fetchMissing(
      context,
      seen.map(({ game_id }) => game_id),
    );
  const decided = await decideGames(
    await context.openDatabase(),
    seen,
    { ...request, keeps_pictures },
    actor,
  );
  const ids = decided.games.filter(({ result }) => result === 'decided').map(({ game_id }) => game_id);
  await tidy(context, ids);
  return decided;
};

/** @throws what `undoGameDecisions` throws */
export const undo = async (
  context: CommandContext,
  audit_ids: readonly number[],
  actor: Actor,
): Promise<GameUndo[]> => {
  const games = await undoGameDecisions(await context.openDatabase(), audit_ids, actor);
  await tidy(
    context,
    games.map(({ game_id }) => game_id),
  );
  return games;
};
