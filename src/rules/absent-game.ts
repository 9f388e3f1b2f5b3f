/** Why a game is not stored. */
import { adviseOn, describeOpenFailure, spellKinds } from '#src/contract/failure-words.ts';
import { type AuditStatus, withoutAdvice } from '#src/contract/words.ts';
import { formatDuration, roundDuration, spellDuration } from '#src/lib/duration.ts';
import { formatUtc } from '#src/lib/utc.ts';
import {
  type Answer,
  type Application,
  describePause,
  endSentence,
  type StoredFacts,
} from '#src/rules/answer.ts';
import { untilNextRun } from '#src/rules/next-run.ts';

/** Begins the answer for a game that no run has seen. */
export const NOT_STORED = 'The platform has not stored this game. ';
/** Begins what failed; what was imported stands before it. */
export const FAILED = 'The game is not stored: ';

type Runs = {
  last_run: { outcome: string | null; reason: string | null; note: string | null; missing: number } | null;
  last_complete_at: Date | null;
  open_run: { note: string | null } | null;
};

/** What `game import` gave a game that has no content yet. */
type Imported = { audit_status: AuditStatus; audit_time: Date | null };

/** What explains a game that is not stored. */
type AbsentFacts = Pick<StoredFacts, 'application_id' | 'name' | 'application' | 'failures'> & {
  /** The first pull of the game applies this. */
  imported: Imported | undefined;
};

const describeRest = (ms: number): string => spellDuration(roundDuration(ms));

const describeNextRun = (application_id: string, application: Application): string => {
  const { every_ms, now } = application;
  const waitMs = untilNextRun(application_id, application, now.getTime());
  return `The next run is due in ${describeRest(Math.max(waitMs, 1_000))} (every ${spellDuration(formatDuration(every_ms))}).`;
};

const describeEnd = (outcome: string | null): string =>
  outcome === 'failed' ? 'The last run failed' : `Its last run ended as ${outcome}`;

/** Counts of other games do not explain why one is not stored. */
const COUNTS = /^\d+ invalid, \d+ failed$/;

/** What is said of the last run: why it failed, or what one that read the list noted. */
const describeLast = (outcome: string | null, why: string): string[] => {
  if (outcome !== 'succeeded' && outcome !== 'partial')
    return [endSentence(`${describeEnd(outcome)}${why && `: ${why}`}`)];
  return why === '' || COUNTS.test(why) ? [] : [endSentence(`The last run noted: ${why}`)];
};

const explainRuns = (
  application_id: string,
  application: Application,
  { last_run, open_run }: Runs,
): string => {
  const { status } = application;
  const facts = describePause(application);
  if (status === 'removed') facts.push('The application was removed.');
  const why = spellKinds(withoutAdvice(last_run?.reason ?? last_run?.note ?? ''));
  if (last_run !== null) facts.push(...describeLast(last_run.outcome, why));
  if (open_run !== null)
    facts.push(`A run is open now${open_run.note === null ? '' : `: ${open_run.note}`}.`);
  else if (status === 'active') facts.push(describeNextRun(application_id, application));
  return facts.length === 0 ? '' : ` ${facts.join(' ')}`;
};

const describeImport = ({ audit_status, audit_time }: Imported): string =>
  audit_time === null
    ? 'The game was imported without content: its first pull brings it to review.'
    : `Its imported decision (${audit_status}, ${formatUtc(audit_time)}) waits for the first pull of the game, which applies it.`;

const explainMissing = ({ application_id, name, application, failures }: AbsentFacts, runs: Runs): Answer => {
  const [failure] = failures;
  if (failure !== undefined) {
    const text = `${FAILED}${describeOpenFailure(failure)} ${adviseOn(failure)}`;
    return { code: 'failed', at: failure.last_at, text: text.trimEnd() };
  }
  const ran = explainRuns(application_id, application, runs);
  if (runs.last_complete_at === null)
    return {
      code: 'not_pulled',
      at: null,
      text: `${NOT_STORED}No run of ${name} has read the whole list yet.${ran}`,
    };
  const missing = runs.last_run?.missing ?? 0;
  const orNull = missing === 0 ? '' : `, or its detail was null (${missing} in the last run)`;
  const unnamed = `query_game_list of ${name} did not name this game_id in the last run that read the whole list`;
  const ago = describeRest(application.now.getTime() - runs.last_complete_at.getTime());
  return {
    code: 'not_listed',
    at: runs.last_complete_at,
    text: `${unnamed}, which ended ${ago} ago${orNull}.${ran}`,
  };
};

/** Answers "why is this game not live?" of a game that is not stored in one line. */
export const explainAbsent = (facts: AbsentFacts, runs: Runs): Answer => {
  const answer = explainMissing(facts, runs);
  return facts.imported === undefined
    ? answer
    : { ...answer, text: `${describeImport(facts.imported)} ${answer.text}` };
};
