import { adviseOn, describeFailure, describeReasons } from '#src/contract/failure-words.ts';
import type { Reason } from '#src/contract/text.ts';
import {
  ACCEPT_ADVICE,
  type AuditStatus,
  type Decision,
  FAILURE_ADVICE,
  type Lane,
} from '#src/contract/words.ts';
import { formatDuration, roundDuration, spellDuration, spellWait } from '#src/lib/duration.ts';
import { formatUtc } from '#src/lib/utc.ts';
import { dueAfter } from '#src/rules/backoff.ts';
import { untilTick } from '#src/rules/ticks.ts';

/** The first line of a timeline: why a game is live or not. `at` is the time since which it is true, if known. */
export type Answer = {
  code: 'live' | 'waiting' | 'rejected' | 'withdrawn' | 'failed' | 'not_listed' | 'not_pulled';
  at: Date | null;
  text: string;
};

type Game = {
  revision: number;
  audit_status: AuditStatus;
  audit_time: Date | null;
  withdrawn_at: Date | null;
  game_package_url: string;
};

type Application = {
  status: string;
  pause_reason: string | null;
  every_ms: number;
  /** Null unless the application's runs fail. Ticks long before it open no run. */
  next_attempt_at: Date | null;
  now: Date;
};

type Runs = {
  last_run: { outcome: string | null; reason: string | null; note: string | null; missing: number } | null;
  last_complete_at: Date | null;
  open_run: { note: string | null } | null;
};

type LastDecision = {
  audit_status: Decision;
  revision: number;
  decided_at: Date;
  reason_label: string | null;
  text: string | null;
};

/** What `game import` gave a game that has no content yet. */
type Imported = { audit_status: AuditStatus; audit_time: Date | null };

type Failure = { operation: string; kind: string; reasons: Reason[]; count: number; last_at: Date };

/**
 * Where a game waits: the first of the `games` in a lane has `place` 1. `median_wait_ms` is how long games waited for the
 * latest decisions; null before the first decision.
 */
export type WaitingPlace = {
  lane: Lane;
  place: number;
  games: number;
  since: Date;
  /** When it should be decided. */
  due: Date;
  median_wait_ms: number | null;
  /** It is in no lane, because an operator holds its application. */
  is_held: boolean;
};

export const HELD_BACK = 'in no lane, because the platform holds the games of the application';

/** What explains a game that is stored. */
type StoredFacts = {
  application_id: string;
  application: Application;
  /** The last decision that was not undone. */
  decision: LastDecision | undefined;
  /** The appeal against its rejection that waits for a decision. */
  appeal: { due: Date } | undefined;
  /** When other bytes of a picture last returned the game to review. */
  picture_changed_at: Date | undefined;
  failures: readonly Failure[];
  waiting: WaitingPlace | undefined;
};

/** What explains a game that is not stored. */
type AbsentFacts = Pick<StoredFacts, 'application_id' | 'application' | 'failures'> & {
  /** The first pull of the game applies this. */
  imported: Imported | undefined;
};

const describePlace = ({ lane, place, games, median_wait_ms, is_held }: WaitingPlace): string => {
  if (is_held) return `It is ${HELD_BACK}.`;
  const wait =
    median_wait_ms === null
      ? ''
      : ` Half of the latest decisions took less than ${spellWait(median_wait_ms)}.`;
  return `It is number ${place.toLocaleString('en')} of ${games.toLocaleString('en')} in the ${lane} lane.${wait}`;
};

const endSentence = (text: string): string => (/[.!?。！？…]$/u.test(text) ? text : `${text}.`);

/** Describes a rejection in sentences, for the application's developer. */
export const describeRejection = ({
  reason_label,
  text,
}: Pick<LastDecision, 'reason_label' | 'text'>): string =>
  [reason_label ?? 'no reason given', text ?? '']
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(endSentence)
    .join(' ');

/** Describes a change that the application sent and that could not be stored. */
const failedChange = (failures: readonly Failure[]): string => {
  const [latest] = failures;
  return latest === undefined
    ? ''
    : ` Its latest data could not be stored: ${describeReasons(latest) || latest.kind}.`;
};

/** Explains why a pending game waits. */
const describeReturn = (
  game: Game,
  decision: LastDecision | undefined,
  { is_held }: WaitingPlace,
  picture_changed_at: Date | undefined,
): string => {
  if (decision === undefined) return 'The game waits for its first decision.';
  const was = `The game was ${decision.audit_status} at revision ${decision.revision}`;
  if (decision.revision !== game.revision) return `${was}, has changed since, and waits for a decision.`;
  if (picture_changed_at !== undefined && picture_changed_at > decision.decided_at)
    return `${was}; a picture was replaced since, and it waits for a decision.`;
  return is_held ? `${was}.` : `${was}, and waits for a decision again.`;
};

/** Gives the reason of a pause; nothing if the application is not paused. */
const describePause = ({ status, pause_reason }: Application): string[] =>
  status === 'paused'
    ? [`The application is paused${pause_reason === null ? '' : `: ${pause_reason}`}.`]
    : [];

/** Explains what a withdrawn game needs to come back. */
const describeWithdrawn = (application_id: string, application: Application): string => {
  if (application.status === 'removed') {
    const back = 'when the application is registered again for its former owner, and a listing names it';
    return `The game is withdrawn: ${application_id} was removed. It comes back ${back}.`;
  }
  const back = `The game is withdrawn: ${application_id} no longer lists it. It comes back when a listing names it again.`;
  return [back, ...describePause(application)].join(' ');
};

/** Answers "why is this game not live?" of a stored game in one line. */
export const explainStored = (
  game: Game,
  { application_id, application, decision, appeal, failures, waiting, picture_changed_at }: StoredFacts,
): Answer => {
  if (game.withdrawn_at !== null)
    return {
      code: 'withdrawn',
      at: game.withdrawn_at,
      text: describeWithdrawn(application_id, application),
    };
  if (game.audit_status === 'pending' && waiting !== undefined) {
    return {
      code: 'waiting',
      at: waiting.since,
      text: `${describeReturn(game, decision, waiting, picture_changed_at)} ${describePlace(waiting)}${failedChange(failures)}`,
    };
  }
  if (game.audit_status === 'rejected') {
    const reason = describeRejection(decision ?? { reason_label: null, text: null });
    const next =
      appeal === undefined
        ? 'It returns to review when its content changes.'
        : `Its developer has appealed: another reviewer decides by ${formatUtc(appeal.due)}.`;
    return {
      code: 'rejected',
      at: game.audit_time,
      text: `The game was rejected: ${reason} ${next}${failedChange(failures)}`,
    };
  }
  const noPackage = game.game_package_url === '' ? ' The platform has set no package URL for it.' : '';
  return {
    code: 'live',
    at: game.audit_time,
    text: `The game is live.${noPackage}${failedChange(failures)}`,
  };
};

/** Removes the advice for operators from the reason of a run, for readers who cannot or need not follow it. */
export const withoutAdvice = (reason: string): string =>
  reason.replace(ACCEPT_ADVICE, '').replace(FAILURE_ADVICE, '');

const describeRest = (ms: number): string => spellDuration(roundDuration(ms));

const describeNextRun = (application_id: string, { every_ms, next_attempt_at, now }: Application): string => {
  const nowMs = now.getTime();
  const fromMs = Math.max(nowMs, dueAfter(next_attempt_at, every_ms));
  const waitMs = fromMs + untilTick('games', application_id, every_ms, fromMs) - nowMs;
  return `The next run is due in ${describeRest(Math.max(waitMs, 1_000))} (every ${spellDuration(formatDuration(every_ms))}).`;
};

const explainRuns = (
  application_id: string,
  application: Application,
  { last_run, open_run }: Runs,
): string => {
  const { status } = application;
  const facts = describePause(application);
  if (status === 'removed') facts.push('The application was removed.');
  const why = withoutAdvice(last_run?.reason ?? last_run?.note ?? '');
  if (last_run !== null && (last_run.outcome !== 'succeeded' || why !== ''))
    facts.push(`Its last run ended as ${last_run.outcome}${why && `: ${why}`}.`);
  if (open_run !== null)
    facts.push(`A run is open now${open_run.note === null ? '' : `: ${open_run.note}`}.`);
  else if (status === 'active') facts.push(describeNextRun(application_id, application));
  return facts.length === 0 ? '' : ` ${facts.join(' ')}`;
};

const describeImport = ({ audit_status, audit_time }: Imported): string =>
  audit_time === null
    ? 'The game was imported without content: its first pull brings it to review.'
    : `Its imported decision (${audit_status}, ${formatUtc(audit_time)}) waits for the first pull of the game, which applies it.`;

const explainMissing = ({ application_id, application, failures }: AbsentFacts, runs: Runs): Answer => {
  const [failure] = failures;
  if (failure !== undefined) {
    const times = failure.count === 1 ? 'once' : `${failure.count} times`;
    const text = `The game is not stored: ${failure.operation} failed ${times}. ${describeFailure(failure)} ${adviseOn(failure)}`;
    return { code: 'failed', at: failure.last_at, text: text.trimEnd() };
  }
  if (runs.last_complete_at === null)
    return {
      code: 'not_pulled',
      at: null,
      text: `No run of ${application_id} has read its whole list yet.${explainRuns(application_id, application, runs)}`,
    };
  const missing = runs.last_run?.missing ?? 0;
  const orNull = missing === 0 ? '' : `, or its detail was null (${missing} in the last run)`;
  const unnamed = `query_game_list of ${application_id} did not name this game_id in the last complete run`;
  const ago = describeRest(application.now.getTime() - runs.last_complete_at.getTime());
  return {
    code: 'not_listed',
    at: runs.last_complete_at,
    text: `${unnamed}, which ended ${ago} ago${orNull}.${explainRuns(application_id, application, runs)}`,
  };
};

/** Answers "why is this game not live?" of a game that is not stored in one line. */
export const explainAbsent = (facts: AbsentFacts, runs: Runs): Answer => {
  const answer = explainMissing(facts, runs);
  return facts.imported === undefined
    ? answer
    : { ...answer, text: `${describeImport(facts.imported)} ${answer.text}` };
};
