/** What the page of one game shows. */
import type { OpenAppeal } from '#db/queries/appeals.ts';
import type { GameRow } from '#db/queries/games.ts';
import type { ReasonRow } from '#db/queries/reasons.ts';
import type { ThreadEntry } from '#db/queries/threads.ts';
import type { GamePictures } from '#src/console/pages/game-pictures.ts';
import type { GameDiff } from '#src/review/compare-revisions.ts';
import type { GameHints } from '#src/review/game-hints.ts';
import type { Standing } from '#src/review/standing.ts';
import type { Timeline } from '#src/review/timeline.ts';
import type { WaitingPlace } from '#src/rules/answer.ts';
import type { SafeHtml } from '#src/site/html.ts';
import type { LaneFilters } from '#src/site/query.ts';

export type GameView = {
  game: GameRow;
  application_name: string;
  diff: GameDiff;
  timeline: Timeline;
  /** Its place in the lane as that is filtered; null if it is in none. */
  waiting: WaitingPlace | null;
  revisions: readonly number[];
  reasons: readonly ReasonRow[];
  /** What operators and its developer wrote. */
  thread: readonly ThreadEntry[];
  /** The open appeal against its rejection. */
  appeal: OpenAppeal | undefined;
  /** The reader. */
  login: string;
  viewers: SafeHtml | null;
  mayDecide: boolean;
  /** The filters of the lane that the game was opened from. */
  filters: LaneFilters;
  cursor: string | undefined;
  nextUrl: string | undefined;
  /** Where the search for the next game goes on, if none of the names that were compared matches. */
  furtherUrl: string | undefined;
  backUrl: string | undefined;
  pictures: GamePictures;
  hints: GameHints;
  /** The hold of its application, and the verdict on the developer. */
  standing: Standing;
};
