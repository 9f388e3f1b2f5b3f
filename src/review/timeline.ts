import type { Queryable } from '#db/client.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import type { GameRow } from '#db/queries/games.ts';
import {
  findApplicationGame,
  type GameEvents,
  listGameFailures,
  readApplicationState,
  readGameEvents,
} from '#db/queries/timeline.ts';
import { UsageError } from '#src/errors.ts';
import { nameOr } from '#src/lib/printable.ts';
import { type Answer, answerWhy, describeReasons, describeRejection } from '#src/review/answer.ts';
import { findWaitingPlace, type WaitingPlace } from '#src/review/lanes.ts';

/**
 * One thing that happened to a game. `text` is a sentence that the application's developer may read; `by` and `note`
 * are for operators.
 */
export type TimelineEntry = {
  at: Date;
  kind:
    | 'failed'
    | 'received'
    | 'waiting'
    | 'passed'
    | 'rejected'
    | 'undone'
    | 'unlisted'
    | 'withdrawn'
    | 'returned'
    | 'package'
    | 'picture'
    | 'event_delivered'
    | 'event_failed';
  text: string;
  revision?: number;
  by?: string | null;
  note?: string | null;
};

export type Timeline = {
  application_id: string;
  application_game_id: string;
  /** Null when the game was never stored. */
  game: GameRow | null;
  answer: Answer;
  /** Where the game waits; null if it does not. */
  waiting: WaitingPlace | null;
  /** Oldest first. */
  entries: TimelineEntry[];
};

const toEntries = (
  game: GameRow | undefined,
  { revisions, decisions, absences, packages, pictures, notices }: GameEvents,
  failures: readonly FailureRow[],
  waiting: WaitingPlace | undefined,
): TimelineEntry[] => [
  ...revisions.map(
    ({ revision, fetched_at, game_name }): TimelineEntry => ({
      at: fetched_at,
      kind: 'received',
      revision,
      text: `${revision === 1 ? 'First received' : `Changed: revision ${revision} received`}, as ${nameOr(game_name)}.`,
    }),
  ),
  ...decisions.map(
    (decision): TimelineEntry => ({
      at: decision.decided_at,
      kind: decision.audit_status,
      revision: decision.revision,
      text:
        decision.audit_status === 'passed'
          ? `Passed at revision ${decision.revision}.`
          : `Rejected at revision ${decision.revision}: ${describeRejection(decision)}.`,
      by: decision.decided_by,
      note: decision.note,
    }),
  ),
  ...decisions.flatMap(({ undone_at, undone_by, audit_status, revision }): TimelineEntry[] =>
    undone_at === null
      ? []
      : [
          {
            at: undone_at,
            kind: 'undone',
            revision,
            text: `The decision "${audit_status}" on revision ${revision} was undone.`,
            by: undone_by,
          },
        ],
  ),
  ...absences.flatMap(({ withdrawn_at, returned_at }): TimelineEntry[] => [
    { at: withdrawn_at, kind: 'withdrawn', text: 'Withdrawn: the application no longer lists the game.' },
    ...(returned_at === null
      ? []
      : [
          { at: returned_at, kind: 'returned', text: 'Back: the application lists the game again.' } as const,
        ]),
  ]),
  ...(game?.unlisted_at == null || game.withdrawn_at !== null
    ? []
    : [
        {
          at: game.unlisted_at,
          kind: 'unlisted',
          text: 'A complete listing did not name the game, but its detail is still there. The next such listing withdraws it.',
        } as const,
      ]),
  ...packages.map(
    ({ at, by, url }): TimelineEntry => ({
      at,
      kind: 'package',
      text: url === '' ? 'Package URL cleared.' : `Package URL set to ${url}.`,
      by,
    }),
  ),
  ...pictures.map(
    ({ at, urls }): TimelineEntry => ({
      at,
      kind: 'picture',
      text: `Back to review: the server sends other bytes than were decided on for ${urls.join(', ')}.`,
    }),
  ),
  ...notices.flatMap(({ type, state, delivered_at, last_attempt_at, last_error }): TimelineEntry[] => {
    const at = delivered_at ?? last_attempt_at;
    if (at === null) return [];
    return state === 'delivered'
      ? [{ at, kind: 'event_delivered', text: `The application received the event ${type}.` }]
      : [
          {
            at,
            kind: 'event_failed',
            text: `The event ${type} did not reach the application (${last_error}).`,
          },
        ];
  }),
  ...failures.map(
    (failure): TimelineEntry => ({
      at: failure.last_at,
      kind: 'failed',
      text: `${failure.operation} failed with ${failure.kind}: ${describeReasons(failure)}${failure.count > 1 ? ` (${failure.count} times since ${failure.first_at.toISOString().slice(0, 19).replace('T', ' ')} UTC)` : ''}.`,
    }),
  ),
  ...(waiting === undefined
    ? []
    : [
        {
          at: waiting.since,
          kind: 'waiting',
          text: `Waits in the ${waiting.lane} lane, number ${waiting.place} of ${waiting.games}.`,
        } as const,
      ]),
];

const NO_EVENTS: GameEvents = {
  revisions: [],
  decisions: [],
  absences: [],
  packages: [],
  pictures: [],
  notices: [],
};

/**
 * Lists what happened to a game of an application on both servers, also if it was never stored.
 * @throws UsageError when no application was ever registered under this id
 */
export const readTimeline = async (
  sql: Queryable,
  application_id: string,
  application_game_id: string,
): Promise<Timeline> => {
  const application = await readApplicationState(sql, application_id);
  if (application === undefined)
    throw new UsageError(`There is no application "${application_id}". List them: npx catalogue app list`);
  const [game, failures] = await Promise.all([
    findApplicationGame(sql, application_id, application_game_id),
    listGameFailures(sql, application_id, application_game_id),
  ]);
  const [events, waiting] =
    game === undefined
      ? [NO_EVENTS, undefined]
      : await Promise.all([readGameEvents(sql, game.game_id), findWaitingPlace(sql, game)]);
  const decision = events.decisions.find(({ undone_at }) => undone_at === null);
  const standing = { application_id, application, game, decision, failures, waiting };
  return {
    application_id,
    application_game_id,
    game: game ?? null,
    answer: answerWhy(standing),
    waiting: waiting ?? null,
    entries: toEntries(game, events, failures, waiting).sort((a, b) => a.at.getTime() - b.at.getTime()),
  };
};

/** The timeline as the application's developer reads it: without names of operators and their notes. */
export const forApplication = (timeline: Timeline): Timeline => ({
  ...timeline,
  entries: timeline.entries.map(({ by: _by, note: _note, ...entry }) => entry),
});
