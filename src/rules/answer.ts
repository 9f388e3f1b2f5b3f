import { describeFailure } from '#src/contract/failure-words.ts';
import type { Reason } from '#src/contract/text.ts';
import type { AuditStatus, Decision, Lane } from '#src/contract/words.ts';
import { spellWait } from '#src/lib/duration.ts';
import { formatUtc } from '#src/lib/utc.ts';

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

export type Application = {
  status: string;
  pause_reason: string | null;
  every_ms: number;
  /** Null unless the application's runs fail. Ticks long before it open no run. */
  next_attempt_at: Date | null;
  now: Date;
};

type LastDecision = {
  audit_status: Decision;
  revision: number;
  decided_at: Date;
  reason_label: string | null;
  text: string | null;
};

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

/** What the answer of a live game without a package says. */
export const NO_PACKAGE = ' The platform has set no package URL for it.';

export const HELD = 'the platform holds the games of the application';

/** What explains a game that is stored. */
export type StoredFacts = {
  application_id: string;
  /** How its reader names the application. */
  name: string;
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

/** Spells where a game stands among those that wait, such as `the first of 2 changed games`. */
export const spellPlace = ({
  lane,
  place,
  games,
}: Pick<WaitingPlace, 'lane' | 'place' | 'games'>): string => {
  if (games === 1) return `the only ${lane} game`;
  const which = place === 1 ? 'the first' : `number ${place.toLocaleString('en')}`;
  return `${which} of ${games.toLocaleString('en')} ${lane} games`;
};

const describePlace = ({ lane, place, games, median_wait_ms }: WaitingPlace): string => {
  const wait =
    median_wait_ms === null
      ? ''
      : ` Half of the latest decisions took less than ${spellWait(median_wait_ms)}.`;
  return `It is ${spellPlace({ lane, place, games })} that ${games === 1 ? 'waits' : 'wait'} for review on the platform.${wait}`;
};

export const endSentence = (text: string): string => (/[.!?。！？…]$/u.test(text) ? text : `${text}.`);

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
export const failedChange = (failures: readonly Failure[]): string => {
  const [latest] = failures;
  return latest === undefined ? '' : ` Its latest data could not be stored. ${describeFailure(latest)}`;
};

/** Says what became of a pending game before it waits. */
const describeReturn = (
  game: Game,
  decision: LastDecision | undefined,
  { is_held }: WaitingPlace,
  picture_changed_at: Date | undefined,
): string => {
  if (decision === undefined) return 'waits for its first decision';
  const was = `was ${decision.audit_status} at revision ${decision.revision}`;
  if (decision.revision !== game.revision) return `${was}, has changed since, and waits for a decision`;
  if (picture_changed_at !== undefined && picture_changed_at > decision.decided_at)
    return `${was}; a picture was replaced since, and it waits for a decision`;
  return is_held ? was : `${was}, and waits for a decision again`;
};

/** Explains why a pending game is not live. */
const describeWaiting = (waiting: WaitingPlace, before: string): string =>
  waiting.is_held
    ? `The game is not live: ${HELD}. It ${before}.`
    : `The game is not live: it ${before}. ${describePlace(waiting)}`;

/** Gives the reason of a pause; nothing if the application is not paused. */
export const describePause = ({ status, pause_reason }: Application): string[] =>
  status === 'paused'
    ? [`The application is paused${pause_reason === null ? '' : `: ${pause_reason}`}.`]
    : [];

/** Explains what a withdrawn game needs to come back. */
const describeWithdrawn = (name: string, application: Application): string => {
  if (application.status === 'removed') {
    const back = 'when the application is registered again for its former owner, and its list names it';
    return `The game is withdrawn: ${name} was removed. It comes back ${back}.`;
  }
  const back = `The game is withdrawn: ${name} no longer lists it. It comes back when its list names it again.`;
  return [back, ...describePause(application)].join(' ');
};

/** Answers "why is this game not live?" of a stored game in one line. */
export const explainStored = (
  game: Game,
  { name, application, decision, appeal, failures, waiting, picture_changed_at }: StoredFacts,
): Answer => {
  if (game.withdrawn_at !== null)
    return {
      code: 'withdrawn',
      at: game.withdrawn_at,
      text: describeWithdrawn(name, application),
    };
  if (game.audit_status === 'pending' && waiting !== undefined) {
    return {
      code: 'waiting',
      at: waiting.since,
      text: `${describeWaiting(waiting, describeReturn(game, decision, waiting, picture_changed_at))}${failedChange(failures)}`,
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
  const noPackage = game.game_package_url === '' ? NO_PACKAGE : '';
  return {
    code: 'live',
    at: game.audit_time,
    text: `The game is live.${noPackage}${failedChange(failures)}`,
  };
};
