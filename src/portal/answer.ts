/** Why a game is live or not, at the head of its page, with what its developer can do next. */
import type { AppealRow } from '#db/queries/appeals.ts';
import type { HoldRow } from '#db/queries/holds.ts';
import type { Timeline } from '#src/review/timeline.ts';
import { type Answer, NO_PACKAGE } from '#src/rules/answer.ts';
import { action, ago, html, type SafeHtml, section, type Tone } from '#src/site/html.ts';

const ANSWER_TONES: Record<Answer['code'], Tone> = {
  live: 'good',
  waiting: 'info',
  rejected: 'bad',
  withdrawn: 'warn',
  failed: 'bad',
  not_listed: 'warn',
  not_pulled: 'info',
};

/** What happened when a state began. */
const BEGAN: Partial<Record<Answer['code'], string>> = {
  live: 'Passed',
  waiting: 'Sent to review',
  withdrawn: 'Withdrawn',
};

export const answerTone = ({ code }: Answer): Tone => ANSWER_TONES[code];

/** A state in words, with the button of the next step beside it. */
export const banner = (
  title: SafeHtml | string,
  said: SafeHtml | string,
  tone: Tone | undefined,
  act: SafeHtml | null,
): SafeHtml => section(title, html`<div class="next"><div>${said}</div>${act}</div>`, { tone });

/** A link to what a developer does next, with its words. */
export type Step = { url: string; act: string };

/** Where a developer sees which rules their webhooks break. */
export const CHECKS: Step = { url: '/portal/checks', act: 'Check your webhooks' };

/** A link that looks like a button. @param kind ` primary` if it leads */
export const linkButton = ({ url, act }: Step, kind = ''): SafeHtml =>
  html`<a class="button${kind}" href="${url}">${act}</a>`;

/** Leads to the operators. @returns null if the platform does not say where they are reached */
export const writeStep = (contact: string | undefined): Step | null =>
  contact === undefined ? null : { url: contact, act: 'Write to the operators' };

/** A button, with one beside it that does not lead. */
export const withSecond = (button: SafeHtml, second: SafeHtml | undefined): SafeHtml =>
  second === undefined ? button : html`<div class="acts">${button}${second}</div>`;

/** A page without rows yet. @param acts buttons below what it says */
export const emptyCard = (title: string, said: SafeHtml | null, acts: SafeHtml | null): SafeHtml =>
  section(
    undefined,
    html`<div class="empty"><p><strong>${title}.</strong> ${said}</p>${acts && html`<div class="actions">${acts}</div>`}</div>`,
  );

/** What the banner says beside the timeline of a game. */
type Around = {
  /** What its developer may do about a rejection. */
  appeals: { isAppealable: boolean; appeal: AppealRow | undefined };
  /** The fields that differ from those that were decided on. */
  changes: readonly string[];
  /** The platform pulls nothing of a paused application. */
  isPaused: boolean;
  /** The list of the application is not read: a card above says why. */
  isUnread: boolean;
  /** What holds the games of the application, if this one waits for its end. */
  hold: HoldRow | undefined;
  /** Where the operators are reached. */
  contact: string | undefined;
  /** No game is passed before its developer is verified. */
  needsVerdict: boolean;
  /** The game is pulled on request. */
  isPulling: boolean;
  /** A list in doubt does not name the game: a card above says what to do. */
  isUnnamed: boolean;
  /** How its latest read ended. */
  read: SafeHtml | null;
  pictures: PictureCount | null;
};
export type PictureCount = { broken: number; all: number };
type Appeals = Around['appeals'];

export const pullButton = (id: string, kind = ''): SafeHtml =>
  action('/portal/game', 'Read this game now', { fields: { id }, kind });

/** Has the whole list read, with every detail. */
export const readButton = (kind = ''): SafeHtml => action('/portal/game', 'Read my list now', { kind });
export const READ_BUTTON = readButton();

const TO_FIX =
  'Correct the game on your server, then have it read. It returns to review when its content changes.';
const TO_FIX_PAUSED = html`Correct the game on your server. It is read when the platform resumes your application, and
returns to review if its content has changed.`;
const TO_FIX_FIRST =
  'Do what the reviewer asks for, and what the card above says. The game returns to review when its changed content is stored.';
const TO_APPEAL =
  'You think the decision is wrong, or can answer what the reviewer asks? Appeal once: another reviewer decides.';

/** The way on that is no change of the game, or how it ended. */
const appealWay = ({ isAppealable, appeal }: Appeals): SafeHtml | null => {
  if (appeal?.outcome === 'upheld')
    return html`<div><h3>Appeal refused</h3><blockquote dir="auto">${appeal.answer}</blockquote>
<p class="soft">Another reviewer decided ${ago(appeal.decided_at)}</p></div>`;
  if (appeal !== undefined)
    return html`<div><h3>You have appealed</h3><p>Your appeal waits for another reviewer. If the game changes first, its new
content is reviewed, and the appeal ends with that decision.</p>
<p class="soft">Sent ${ago(appeal.opened_at)}</p></div>`;
  return isAppealable
    ? html`<div><h3>Appeal</h3><p>${TO_APPEAL}</p><a class="button" href="#write">Appeal or write</a></div>`
    : null;
};

/** Says what its developer can mend before a reviewer looks. */
const brokenPictures = (pictures: PictureCount | null, isLive: boolean): SafeHtml | null => {
  if (pictures === null || pictures.broken === 0) return null;
  const { broken, all } = pictures;
  const which = all === 1 ? 'Its picture' : `${broken} of ${all} pictures`;
  const them = broken === 1 ? 'that picture' : 'those pictures';
  return html`<p>${which} cannot be fetched, so ${isLive ? 'players' : 'reviewers'} do not see ${them}.
<a href="#pictures">See why</a></p>`;
};

/** Shows why a game is rejected, in the words of its reviewer, and the ways on. */
const rejectionBanner = (
  id: string,
  { reason_label, text, decided_at }: NonNullable<Timeline['rejection']>,
  appeals: Appeals,
  {
    toFix,
    mayPull,
    read,
    pictures,
  }: Pick<Around, 'read' | 'pictures'> & { toFix: SafeHtml | string; mayPull: boolean },
): SafeHtml => {
  // Its developer knows which way is right: while there are two, none leads.
  const isOnly = !appeals.isAppealable && appeals.appeal?.outcome !== null;
  const said = text?.trim()
    ? html`<blockquote dir="auto">${text}</blockquote>`
    : html`<p>The reviewer left no note.</p>`;
  return section(
    html`Rejected: <span dir="auto">${reason_label ?? 'no reason given'}</span>`,
    html`<div class="body">${said}${brokenPictures(pictures, false)}<p class="soft">Rejected ${ago(decided_at)}</p>${read}</div>
<div class="ways"><div><h3>Fix it</h3><p>${toFix}</p>
${mayPull ? pullButton(id, isOnly ? 'primary' : '') : null}</div>${appealWay(appeals)}</div>`,
    { tone: 'bad' },
  );
};

/** The first sentence is the title, without its full stop; the rest is as long as a reviewer's text may be. */
const splitAnswer = (text: string): readonly [title: string, rest: string] => {
  const [, title = text, rest = ''] = /^(.*?[.;])\s+(.*)$/s.exec(text) ?? [];
  return [title.replace(/\.$/, ''), rest];
};

const changedFields = (changes: readonly string[]): SafeHtml | null =>
  changes.length === 0 ? null : html`<p>What changed: <span class="mono">${changes.join(', ')}</span></p>`;

const IF_CHANGED = 'If you have changed it, have it read: the platform then sees the change at once.';

/** Says what a developer may expect. The command line does not have this sentence. */
const nextStep = (
  { code }: Answer,
  rest: string,
  { mayPull, isUnread }: { mayPull: boolean; isUnread: boolean },
): SafeHtml | null => {
  if (code === 'live' && rest === '')
    return isUnread ? null : html`<p>You need not do anything. ${mayPull ? IF_CHANGED : null}</p>`;
  return code === 'withdrawn' && mayPull
    ? html`<p>Put it back in your list, then have it read: it comes back at once, if <code>query_game_detail</code> answers with
it.</p>`
    : null;
};

/** What a developer may expect of a hold. */
export const HOLD_ENDS = html`<p>The operators end the hold: ask them what they need. A game that was passed is then live
again, unless it has changed.</p>`;

const NEEDS_VERDICT = html`<p>It can be passed once your <a href="/portal">identity check</a> is verified.</p>`;

/** Says first of all whether a stored game is live, why not, and what to do. */
export const answerBanner = (
  { application_game_id: id, game, answer, failure, rejection }: Timeline,
  {
    appeals,
    changes,
    isPaused,
    isUnread,
    isPulling,
    isUnnamed,
    hold,
    contact,
    needsVerdict,
    pictures,
    read,
  }: Around,
): SafeHtml => {
  // Another card says what to do.
  const isSaid = failure !== null || isUnnamed;
  const mayPull = !isPaused && !isPulling && !isSaid;
  if (rejection !== null) {
    const toFix = isSaid ? TO_FIX_FIRST : TO_FIX;
    const around = { toFix: isPaused ? TO_FIX_PAUSED : toFix, mayPull, read, pictures };
    return rejectionBanner(id, rejection, appeals, around);
  }
  // The card of the game has its package URL.
  const [title, rest] = splitAnswer(answer.text.replace(NO_PACKAGE, ''));
  const began =
    hold === undefined ? html`${BEGAN[answer.code]} ${ago(answer.at)}` : html`Held ${ago(hold.held_at)}`;
  const since = answer.at === null ? null : html`<p class="soft">${began}</p>`;
  const said = [
    hold && html`<blockquote dir="auto">${hold.reason}</blockquote>${HOLD_ENDS}`,
    changedFields(changes),
    rest === '' ? null : html`<p>${rest}</p>`,
    answer.code === 'waiting' && needsVerdict ? NEEDS_VERDICT : null,
    failure !== null && answer.code === 'live' ? html`<p>Players see the content that was passed.</p>` : null,
    isSaid ? null : nextStep(answer, rest, { mayPull, isUnread }),
    game?.withdrawn_at === null ? brokenPictures(pictures, answer.code === 'live') : null,
    since,
    read,
  ];
  if (hold === undefined)
    return banner(title, html`${said}`, answerTone(answer), mayPull ? pullButton(id) : null);
  const write = writeStep(contact);
  return banner(title, html`${said}`, 'bad', write && linkButton(write));
};
