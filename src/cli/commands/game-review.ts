import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import type { Database } from '#db/client.ts';
import { recordViewer } from '#db/queries/game-viewers.ts';
import { type LaneFilter, type LaneGame, listLanePage, placeInLane } from '#db/queries/lanes.ts';
import type { ListPage } from '#db/queries/list-page.ts';
import { listReasons } from '#db/queries/reasons.ts';
import { fetchMissing } from '#src/cli/commands/fetch-missing.ts';
import { describeDiff, requireGame } from '#src/cli/commands/game-text.ts';
import { defineCommand } from '#src/cli/kit/command.ts';
import type { CommandContext } from '#src/cli/kit/context.ts';
import { formatAge, formatCount } from '#src/cli/kit/format.ts';
import type { Output } from '#src/cli/kit/output.ts';
import { parseApplicationId, parseNonEmpty, searchIn } from '#src/cli/kit/parsers.ts';
import { isInteractive, openPrompt, type Prompt } from '#src/cli/kit/prompt.ts';
import { checkListFilter } from '#src/cli/kit/require-application.ts';
import { LANES, type Lane } from '#src/contract/words.ts';
import { coerceError, UsageError } from '#src/errors.ts';
import { explainResult } from '#src/operations/decision-results.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { undoGameDecisions } from '#src/operations/undo-decisions.ts';
import { compareRevisions, type GameDiff } from '#src/review/compare-revisions.ts';
import { summariseLanes } from '#src/review/lanes.ts';

const LINES_SHOWN = 30;
const KEYS = 'p pass, r reject, s skip, d show all, u undo, q quit';

type Place = ListPage['after'];

/** The state of a review. */
type Session = {
  context: CommandContext;
  sql: Database;
  out: Output;
  operate: CommandContext['operate'];
  prompt: Prompt;
  /** The name of the reviewer. */
  by: string;
  lane: Lane;
  filter: LaneFilter;
  /** The place after which the next game is read. */
  place: Place;
  /** Decisions that can be undone, with the place of the session before each. */
  decided: { audit_id: number; place: Place }[];
};

const showGame = async ({ sql, out, by }: Session, game: LaneGame): Promise<GameDiff> => {
  const diff = await compareRevisions(sql, await requireGame(sql, game.game_id));
  const lines = describeDiff(diff, out.stdio.stdout.columns);
  out.line();
  out.styled(lines.slice(0, LINES_SHOWN));
  if (lines.length > LINES_SHOWN) out.line(`… ${lines.length - LINES_SHOWN} more lines: d`);
  const others = await recordViewer(sql, game.game_id, by, diff.to);
  if (others.length > 0) out.line(`Others look at it now: ${others.join(', ')}.`);
  out.line(`Waits since ${formatAge(game.since)}, due ${formatAge(game.due)}.`);
  return diff;
};

type Rejection = { reason: string; text: string | undefined; note: string };

/** Prompts for the reason and the texts of a rejection. @returns undefined when there is no answer */
const askRejection = async ({ sql, out, prompt }: Session): Promise<Rejection | undefined> => {
  const reasons = (await listReasons(sql)).filter((reason) => reason.retired_at === null);
  for (const [index, { code, label }] of reasons.entries()) out.line(`  ${index + 1}. ${code}: ${label}`);
  const chosen = (await prompt.ask('Reason (number or code, empty: do not reject): ')) ?? '';
  const reason = reasons[Number(chosen) - 1]?.code ?? chosen;
  if (reason === '') return undefined;
  const text = await prompt.ask("Text for the application's developer (may be empty): ");
  const note = text === undefined ? undefined : await prompt.ask('Note for operators (may be empty): ');
  return note === undefined ? undefined : { reason, text, note };
};

/** Decides on a game. @param rejection absent: the game is passed */
const decide = async (session: Session, diff: GameDiff, next: Place, rejection?: Rejection) => {
  const { operate, out, by } = session;
  const games = [{ game_id: diff.game.game_id, revision: diff.to }];
  const seen = { games, seen_status: 'pending' } as const;
  const decided =
    rejection === undefined
      ? await operate(passGames, seen, { by })
      : await operate(rejectGames, { ...seen, ...rejection }, { by });
  for (const decision of decided.games) {
    out.line(`${diff.game.game_name}: ${explainResult(decision)}.`);
    // A game that has moved is shown again.
    if (decision.result === 'content_moved') return;
    const { last } = decision.game ?? {};
    if (decision.result === 'decided' && last)
      session.decided.push({ audit_id: last.audit_id, place: session.place });
  }
  session.place = next;
};

const undoLast = async (session: Session): Promise<void> => {
  const last = session.decided.pop();
  if (last === undefined) {
    session.out.line('There is nothing to undo.');
    return;
  }
  for (const undone of await session.operate(undoGameDecisions, { audit_ids: [last.audit_id] }, session))
    session.out.line(`${undone.game?.game_name}: ${explainResult(undone)}.`);
  session.place = last.place;
};

/** Shows a game and prompts for the decision. @returns whether the review goes on */
const handleGame = async (session: Session, game: LaneGame): Promise<boolean> => {
  const diff = await showGame(session, game);
  const next = placeInLane(game);
  for (;;) {
    const key = await session.prompt.ask(`${KEYS}: `);
    try {
      if (key === undefined || key === 'q') return false;
      if (key === 'p') {
        await fetchMissing(session.context, [diff.game]);
        await decide(session, diff, next);
      } else if (key === 'r') {
        const rejection = await askRejection(session);
        if (rejection === undefined) continue;
        await decide(session, diff, next, rejection);
      } else if (key === 's') session.place = next;
      else if (key === 'u') await undoLast(session);
      else {
        if (key === 'd') session.out.styled(describeDiff(diff, session.out.stdio.stdout.columns));
        continue;
      }
      return true;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      session.out.error(coerceError(error).message);
    }
  }
};

/** Defines `game review`. */
export const registerReview = (game: CommandUnknownOpts): void =>
  defineCommand(game, 'review', {
    summary: 'walk through the games that wait, one by one',
    details: `On a terminal. Keys: ${KEYS}.`,
    examples: ['game review --by kim', 'game review --by kim --lane changed --application acme'],
    parameters: (command) =>
      command
        .requiredOption('--by <who>', 'name of the operator who decides', parseNonEmpty)
        .addOption(
          new Option('--lane <lane>', 'games never decided, or changed since')
            .choices(LANES)
            .default('new' as const),
        )
        .option('--application <application_id>', 'only games of this application', parseApplicationId)
        .option(...searchIn('the name')),
    run: async (context, { by, lane, application: application_id, search }) => {
      const { openDatabase, operate, out } = context;
      if (!isInteractive(out))
        throw new UsageError('game review needs a terminal. In a script: game pass, game reject.');
      const sql = await openDatabase();
      await checkListFilter(sql, application_id);
      const summary = await summariseLanes(sql, application_id);
      out.line(LANES.map((each) => `${each} lane: ${formatCount(summary[each].games, 'game')}`).join(', '));
      using prompt = openPrompt(out);
      const filter = { application_id, search };
      const session: Session = {
        context,
        sql,
        out,
        prompt,
        lane,
        filter,
        operate,
        by,
        place: undefined,
        decided: [],
      };
      for (;;) {
        const page = { sort: 'due', descending: false, limit: 1, uncounted: true } as const;
        const { rows, next } = await listLanePage(
          sql,
          { ...filter, lane },
          { ...page, after: session.place },
        );
        const [first] = rows;
        if (first === undefined && next === undefined) break;
        if (first === undefined) session.place = next;
        else if (!(await handleGame(session, first))) break;
      }
      out.line(`${formatCount(session.decided.length, 'decision')}.`);
    },
  });
