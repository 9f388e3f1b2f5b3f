/** A list that lost most of its games, or that shows in another way that it cannot be trusted. */
import type { SuspectEnd } from '#db/queries/vanishing-games.ts';
import { withoutAdvice } from '#src/contract/words.ts';
import { banner, linkButton, readButton, writeStep } from '#src/portal/answer.ts';
import { byNumber, idLink, nameSome } from '#src/portal/links.ts';
import { type Problem, problemBanner } from '#src/portal/problems.ts';
import type { Reading } from '#src/portal/reading.ts';
import { LOST } from '#src/portal/schedule.ts';
import { READ_AGAIN, READ_BEFORE, SEE_WHY, unreadTitle } from '#src/portal/unread.ts';
import { endSentence } from '#src/rules/answer.ts';
import { ago, html, number, type SafeHtml } from '#src/site/html.ts';

/** @param named some of the games that the list no longer has @param all how many it no longer has */
const nameLost = (named: readonly string[], all: number): SafeHtml | null =>
  named.length === 0
    ? null
    : html`<div>It no longer has ${nameSome(named.toSorted(byNumber).map(idLink), all)}</div>`;

/** What a run says of its list, and what it lost if it would withdraw too many games. */
const readReason = ({
  reason,
}: Pick<SuspectEnd, 'reason'>): { why: string; loss?: { lost: number; all: number } } => {
  const why = withoutAdvice(reason ?? '');
  const [, lost, all] = LOST.exec(why) ?? [];
  return lost === undefined ? { why } : { why, loss: { lost: Number(lost), all: Number(all) } };
};

type Loss = ReturnType<typeof readReason>['loss'];

const suspectTitle = (loss: Loss): string =>
  loss === undefined
    ? 'The last run could not read your list to its end'
    : `Your list lost ${number(loss.lost)} of ${number(loss.all)} games, so none was withdrawn`;

/** Says that a list is not read, or is in doubt. @returns null if it is read and trusted */
export const listTrouble = (reading: Reading, suspect: SuspectEnd | undefined): string | null =>
  unreadTitle(reading) ?? (suspect === undefined ? null : suspectTitle(readReason(suspect).loss));

const MARKED = html`<p>The badge "not in your list" marks games that it no longer names.</p>`;

/** Says on other pages, in one line, what the overview says of the list. */
export const listBanner = (reading: Reading, suspect: SuspectEnd | undefined): SafeHtml | null => {
  const title = listTrouble(reading, suspect);
  if (title === null) return null;
  const tone = unreadTitle(reading) === null ? 'warn' : 'bad';
  const said = tone === 'bad' ? READ_BEFORE : MARKED;
  return banner(title, said, tone, linkButton(SEE_WHY));
};

/** A developer asks the operators, or restores the list and has it read. */
const waysOf = (
  reading: Reading,
  contact: string | undefined,
): Pick<Problem, 'step' | 'isSecond' | 'also'> => {
  const step = writeStep(contact);
  return reading.mayRead ? { step, isSecond: true, also: readButton('primary') } : { step };
};

/** What a suspect run leaves to its developer. @param suspect undefined if the list is trusted @param contact of the operators */
export const suspectProblem = (
  suspect: SuspectEnd | undefined,
  reading: Reading,
  contact: string | undefined,
): Problem[] => {
  if (suspect === undefined) return [];
  const { finished_at, named } = suspect;
  const { why, loss } = readReason(suspect);
  const said =
    loss === undefined
      ? html`<p dir="auto">${endSentence(why)}</p>`
      : html`${nameLost(named, loss.lost)}
<p>Restore the list, or ask the operators to accept it.</p>`;
  return [
    {
      title: suspectTitle(loss),
      body: html`${said}<p class="soft">The run ended ${ago(finished_at)}</p>${reading.mayRead ? READ_AGAIN : null}`,
      tone: 'warn',
      ...waysOf(reading, contact),
    },
  ];
};

/** Says of a stored game that a suspect run did not name it. @param suspect undefined if the list is trusted, or has the game */
export const unnamedBanner = (
  suspect: Omit<SuspectEnd, 'named'> | undefined,
  reading: Reading,
  contact: string | undefined,
): SafeHtml | null => {
  if (suspect === undefined) return null;
  const { why, loss } = readReason(suspect);
  const cause =
    loss === undefined
      ? endSentence(why)
      : `Your list lost ${number(loss.lost)} of ${number(loss.all)} games.`;
  const said = html`<p dir="auto">It is not withdrawn while the list is in doubt. ${cause}
Restore the list, or ask the operators to accept it.</p><p class="soft">The run ended ${ago(suspect.finished_at)}</p>`;
  const title = 'Your list no longer names this game';
  return problemBanner({ title, body: said, tone: 'warn', ...waysOf(reading, contact) });
};
