import type { Queryable } from '#db/client.ts';
import type { FailureRow } from '#db/queries/failures.ts';
import type { GameRow } from '#db/queries/games.ts';
import { findWaitingGame } from '#db/queries/imports.ts';
import {
  type ApplicationState,
  type DecisionEvent,
  findApplicationGame,
  findApplicationState,
  type GameEvents,
  listGameFailures,
  readApplicationRuns,
  readGameEvents,
} from '#db/queries/timeline.ts';
import { describeAttempt, describeFailure } from '#src/contract/failure-words.ts';
import { NotFoundError } from '#src/errors.ts';
import { nameOr } from '#src/lib/printable.ts';
import { formatUtc } from '#src/lib/utc.ts';
import { findWaitingPlace } from '#src/review/lanes.ts';
import { explainAbsent } from '#src/rules/absent-game.ts';
import {
  type Answer,
  describeRejection,
  explainStored,
  failedChange,
  HELD,
  spellPlace,
  type WaitingPlace,
} from '#src/rules/answer.ts';

/** The name of this event alone reads as if the appeal had won. */
const glossOf = (type: string): string => (type === 'game.appeal_upheld' ? ': the rejection stays' : '');

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
    | 'appealed'
    | 'upheld'
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
  /** The latest open failure of the game: its latest data is not stored. */
  failure: FailureRow | null;
  /** The rejection that stands; null if the game is not rejected, or is withdrawn. */
  rejection: Pick<DecisionEvent, 'reason_label' | 'text' | 'decided_at'> | null;
  /** Where the game waits; null if it does not. */
  waiting: WaitingPlace | null;
  /** Oldest first. */
  entries: TimelineEntry[];
};

const listEntries = (
  { removed_at }: ApplicationState,
  game: GameRow | undefined,
  events: GameEvents | undefined,
  failures: readonly FailureRow[],
  waiting: WaitingPlace | undefined,
): TimelineEntry[] => {
  const entries: TimelineEntry[] = [];
  /** Without a time, it has not happened. */
  const add = (at: Date | null | undefined, entry: Omit<TimelineEntry, 'at'>): void => {
    if (at != null) entries.push({ at, ...entry });
  };
  for (const { revision, fetched_at, game_name } of events?.revisions ?? []) {
    const what = revision === 1 ? 'First received' : `Changed: revision ${revision} received`;
    add(fetched_at, { kind: 'received', revision, text: `${what}, as ${nameOr(game_name)}.` });
  }
  for (const decision of events?.decisions ?? []) {
    const { decided_at, audit_status: kind, revision, decided_by: by, note, carried_over_from } = decision;
    const what =
      kind === 'passed'
        ? `Passed at revision ${revision}.`
        : `Rejected at revision ${revision}: ${describeRejection(decision)}`;
    const why =
      ' The decision before stands: at most addresses differ, and every picture has the same bytes.';
    const text = carried_over_from === null ? what : what + why;
    add(decided_at, { kind, revision, text, by, note });
  }
  for (const { undone_at, undone_by: by, audit_status, revision } of events?.decisions ?? []) {
    const text = `The decision "${audit_status}" on revision ${revision} was undone.`;
    add(undone_at, { kind: 'undone', revision, text, by });
  }
  for (const { opened_at, outcome, decided_at, decided_by: by } of events?.appeals ?? []) {
    add(opened_at, { kind: 'appealed', text: 'The rejection was appealed.' });
    // A rejection that is overturned has a decision.
    if (outcome === 'upheld')
      add(decided_at, { kind: 'upheld', text: 'The appeal was decided: the game stays rejected.', by });
  }
  for (const { withdrawn_at, returned_at } of events?.absences ?? []) {
    const isOfRemoval = removed_at !== null && withdrawn_at >= removed_at;
    const why = isOfRemoval ? 'the application was removed' : 'the application no longer lists the game';
    add(withdrawn_at, { kind: 'withdrawn', text: `Withdrawn: ${why}.` });
    add(returned_at, { kind: 'returned', text: 'Back: the application lists the game again.' });
  }
  if (game?.withdrawn_at === null)
    add(game.unlisted_at, {
      kind: 'unlisted',
      text: 'A complete listing did not name the game, but its detail is still there. The next such listing withdraws it.',
    });
  for (const { at, by, url } of events?.packages ?? [])
    add(at, {
      kind: 'package',
      text: url === '' ? 'Package URL cleared.' : `Package URL set to ${url}.`,
      by,
    });
  for (const { at, urls } of events?.pictures ?? []) {
    const text = `Back to review: the server sends other bytes than were decided on for ${urls.join(', ')}.`;
    add(at, { kind: 'picture', text });
  }
  for (const notice of events?.notices ?? []) {
    const { type, state, delivered_at, last_attempt_at } = notice;
    const at = delivered_at ?? last_attempt_at;
    if (state === 'delivered')
      add(at, {
        kind: 'event_delivered',
        text: `The application received the event ${type}${glossOf(type)}.`,
      });
    else
      add(at, {
        kind: 'event_failed',
        text: `The event ${type} did not reach the application. ${describeAttempt(notice)}`,
      });
  }
  for (const failure of failures) {
    const { operation, count, first_at, last_at } = failure;
    const since = formatUtc(first_at);
    const times = count > 1 ? ` (${count} times since ${since})` : '';
    const text = `${operation} failed${times}. ${describeFailure(failure)}`;
    add(last_at, { kind: 'failed', text });
  }
  if (waiting !== undefined) {
    const { since, lane, place, games, is_held } = waiting;
    const where = is_held ? `, because ${HELD}` : ` for review: ${spellPlace({ lane, place, games })}`;
    add(since, { kind: 'waiting', text: `Waits${where}.` });
  }
  return entries.sort((a, b) => a.at.getTime() - b.at.getTime());
};

/**
 * Lists what happened to a game of an application on both servers, also if it was never stored.
 * @param around.known the game, if the caller has read it @param around.name how the reader names the application
 * @throws NotFoundError when no application was ever registered under this id
 */
export const readTimeline = async (
  sql: Queryable,
  application_id: string,
  application_game_id: string,
  { known, name = application_id }: { known?: GameRow; name?: string } = {},
): Promise<Timeline> => {
  const [application, game, imported, failures] = await Promise.all([
    findApplicationState(sql, application_id),
    known ?? findApplicationGame(sql, application_id, application_game_id),
    known === undefined ? findWaitingGame(sql, application_id, application_game_id) : undefined,
    listGameFailures(sql, application_id, application_game_id),
  ]);
  if (application === undefined) throw new NotFoundError('application', application_id);
  const [events, waiting] =
    game === undefined
      ? []
      : await Promise.all([readGameEvents(sql, game.game_id), findWaitingPlace(sql, game)]);
  const decision = events?.decisions.find(({ undone_at }) => undone_at === null);
  const picture_changed_at = events?.pictures[0]?.at;
  const appeal = events?.appeals.find(({ outcome }) => outcome === null);
  const facts = {
    application_id,
    name,
    application,
    decision,
    appeal,
    picture_changed_at,
    failures,
    waiting,
  };
  const answer =
    game === undefined
      ? explainAbsent({ ...facts, imported }, await readApplicationRuns(sql, application_id))
      : explainStored(game, facts);
  return {
    application_id,
    application_game_id,
    game: game ?? null,
    answer,
    failure: failures[0] ?? null,
    rejection: answer.code === 'rejected' && decision !== undefined ? decision : null,
    waiting: waiting ?? null,
    entries: listEntries(application, game, events, failures, waiting),
  };
};

/**
 * The timeline as the application's developer reads it: without names of operators and their notes. The reason of a
 * rejection that stands is in the answer and in `rejection`, not among the entries. What failed is in `failure`, not in the
 * answer.
 */
export const forApplication = (timeline: Timeline): Timeline => {
  const { answer, entries, failure, rejection } = timeline;
  const last = answer.code === 'rejected' ? entries.findLast(({ kind }) => kind === 'rejected') : undefined;
  return {
    ...timeline,
    answer: { ...answer, text: answer.text.replace(failedChange(failure ? [failure] : []), '') },
    rejection: rejection && {
      reason_label: rejection.reason_label,
      text: rejection.text,
      decided_at: rejection.decided_at,
    },
    entries: entries.map((each) => {
      const { by: _by, note: _note, ...entry } = each;
      if (each === last) return { ...entry, text: `Rejected at revision ${each.revision}.` };
      return each.kind === 'appealed' ? { ...entry, text: 'You appealed the rejection.' } : entry;
    }),
  };
};
