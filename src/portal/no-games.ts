/** What `/portal/games` shows while no game is stored. */
import type { SuspectEnd } from '#db/queries/vanishing-games.ts';
import { failureGroupList } from '#src/lists/failures.ts';
import { readFirst, type Sources } from '#src/lists/read.ts';
import { CHECKS, emptyCard, linkButton, READ_BUTTON } from '#src/portal/answer.ts';
import { CAUSES_READ, failureProblem, isOfGames } from '#src/portal/problems.ts';
import { describeReading, type Reading } from '#src/portal/reading.ts';
import { describeNextRead } from '#src/portal/schedule.ts';
import { listTrouble } from '#src/portal/suspect.ts';
import { html, type SafeHtml } from '#src/site/html.ts';

/** Why no game is stored: the runs fail, or the games do. Undefined: no run has read the list, or the list is empty. */
const findTrouble = async (
  sources: Sources,
  application_id: string,
  reading: Reading,
  suspect: SuspectEnd | undefined,
): Promise<string | undefined> => {
  const groups = await readFirst(failureGroupList, sources, { application_id }, CAUSES_READ);
  return listTrouble(reading, suspect) ?? failureProblem(groups.filter(isOfGames))[0]?.title;
};

const SEE_FAILURES = { url: '/portal/runs', act: 'See the failures' };

/** What the developer of an application without a game reads. If it is paused, the banner above says so. */
export const showNone = async (
  sources: Sources,
  application_id: string,
  reading: Reading,
  suspect: SuspectEnd | undefined,
): Promise<SafeHtml> => {
  const { application, isReading, isPaused, mayRead } = reading;
  const trouble = isPaused ? undefined : await findTrouble(sources, application_id, reading, suspect);
  const step = linkButton(trouble === undefined ? CHECKS : SEE_FAILURES, ' primary');
  const acts = isPaused ? null : html`${step}${mayRead ? READ_BUTTON : null}`;
  const when = isReading
    ? html`It is being read now. ${describeReading(reading)}`
    : describeNextRead(application);
  const said = html`The platform stores your games when it reads your list. ${when}`;
  return emptyCard(trouble ?? 'Your games are not stored yet', said, acts);
};
