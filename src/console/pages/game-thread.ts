/** The thread of a game, and what decides an appeal: parts of the page of one game, and their routes. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { AppealRow, OpenAppeal } from '#db/queries/appeals.ts';
import type { ThreadEntry } from '#db/queries/threads.ts';
import { isOwnRejection, leadToAppeal } from '#src/console/pages/appeals.ts';
import { DECISION_TEXTS_MAX_BYTES } from '#src/console/pages/decision-form.ts';
import { DECISION_FORMS } from '#src/console/pages/game-pictures.ts';
import type { GameView } from '#src/console/pages/game-view.ts';
import { seenPicturesField } from '#src/console/pages/seen-pictures.ts';
import { overturnRejection, upholdRejection } from '#src/operations/appeals.ts';
import { messageGame, noteGame } from '#src/operations/threads.ts';
import { operatorOf, redirectAfter, redirectOnRefusal, redirectWith, sendError } from '#src/site/answers.ts';
import { ago, hiddenFields, html, link, type SafeHtml, section } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, laneFilters, revisionNumber, toId } from '#src/site/query.ts';
import { textArea, threadEntries } from '#src/site/thread.ts';

/** Most bytes of a form with both texts. */
const FORM_MAX_BYTES = DECISION_TEXTS_MAX_BYTES + 16 * 1024;

/** A note and a message have separate forms, so that no button turns the one into the other. */
type Written = { act: 'note' | 'message'; opener: string; label: string; button: string; kind: string };

const NOTE: Written = {
  act: 'note',
  opener: 'Note for operators…',
  label: 'Note: its developer never reads it',
  button: 'Keep the note',
  kind: '',
};
const MESSAGE: Written = {
  act: 'message',
  opener: 'Message to the developer…',
  label: 'Message: its developer reads it',
  button: 'Send to the developer',
  kind: 'primary',
};

/** One of the forms is open at a time. */
const writeForm = ({ game, filters }: GameView, { act, opener, label, button, kind }: Written): SafeHtml =>
  html`<details name="write" id="write-${act}"><summary class="button" data-opens="write-${act}">${opener}</summary>
<form method="post" action="/games/${game.game_id}/thread" class="form ${act}">${hiddenFields(filters)}
${textArea('text', label)}<button class="button ${kind}" name="act" value="${act}" data-sends>${button}
<kbd aria-hidden="true">Ctrl ↵</kbd></button></form></details>`;

/** Shows what operators and the developer wrote about a game, oldest first. */
export const threadSection = (view: GameView): SafeHtml => {
  const { game, application_name, thread, mayDecide } = view;
  const { application_id, withdrawn_at } = game;
  // A withdrawn game takes notes alone.
  const forms = (withdrawn_at === null ? [NOTE, MESSAGE] : [NOTE]).map((each) => writeForm(view, each));
  const nameOf = ({ kind, written_by }: ThreadEntry): string =>
    written_by === application_id && (kind === 'answer' || kind === 'appeal') ? application_name : written_by;
  const write = mayDecide ? html`<div class="body acts">${forms}</div>` : null;
  return section('Thread', html`${threadEntries(thread, nameOf)}${write}`, {
    id: 'thread',
  });
};

const quoted = (title: string, text: string | null): SafeHtml =>
  html`<h3>${title}</h3>${text ? html`<blockquote dir="auto">${text}</blockquote>` : null}`;

const OWN = html`<p>You rejected this game: another reviewer decides the appeal.</p>`;

/** The rejection of a game and the appeal against it, before everything else. */
export const appealSection = (appeal: OpenAppeal | undefined, login: string): SafeHtml | null => {
  if (appeal === undefined) return null;
  return section(
    'The developer appeals the rejection',
    html`<div class="body rows">${isOwnRejection(appeal, login) ? OWN : null}
<div>${quoted(`Rejected by ${appeal.rejected_by}: ${appeal.reason_label ?? 'no reason given'}`, appeal.rejection)}</div>
<div>${quoted('Appeal', appeal.text)}<p class="soft">Appealed ${ago(appeal.opened_at)}<br>Due ${ago(appeal.due)}</p></div></div>`,
    { tone: 'warn', id: 'appeal' },
  );
};

type Choice = { act: 'overturn' | 'uphold'; label: string; key: string; form: string; kind: string };
const CHOICES: Choice[] = [
  { act: 'overturn', label: 'Overturn', key: 'o', form: DECISION_FORMS.pass, kind: 'primary' },
  { act: 'uphold', label: 'Uphold', key: 'h', form: DECISION_FORMS.reject, kind: 'danger solid' },
];

// The forms have the ids of those of a decision, so that they send the pictures that the page shows.
const appealForm = (game_id: string, seen: SafeHtml[], { act, label, key, form, kind }: Choice): SafeHtml =>
  html`<details id="appeal-${act}"><summary class="button" data-key="${key}" data-opens="appeal-${act}"
 aria-keyshortcuts="${key}">${label}… <kbd aria-hidden="true">${key}</kbd></summary>
<form method="post" action="/games/${game_id}/appeal" id="${form}" class="panel-over">
${seen}${textArea('text', 'Why, for the developer')}
<button class="button ${kind}" name="act" value="${act}" data-sends>${label} the rejection
<kbd aria-hidden="true">Ctrl ↵</kbd></button></form></details>`;

/** The forms that decide an appeal, in place of those that decide on the game. */
export const appealForms = (
  { game_id, revision }: { game_id: string; revision: number },
  appeal: AppealRow,
  login: string,
): SafeHtml => {
  const isOwn = isOwnRejection(appeal, login);
  const toNext = `/review/appeals/next?after=${game_id}`;
  const next = html`<a class="button${isOwn ? ' primary' : null}" href="${toNext}" data-key="j" aria-keyshortcuts="j">
Next appeal <kbd aria-hidden="true">j</kbd></a>`;
  if (isOwn) return html`<div id="decision">${next}</div>`;
  const seen = hiddenFields({ appeal_id: String(appeal.appeal_id), revision: String(revision) });
  return html`${next}<div id="decision" role="group" aria-label="Decision on the appeal">
${CHOICES.map((choice) => appealForm(game_id, seen, choice))}</div>`;
};

const threadForm = z.object({ act: z.enum(['note', 'message']), text: z.string() });
const decisionForm = z.object({
  act: z.enum(['uphold', 'overturn']),
  text: z.string(),
  appeal_id: z.coerce.number(),
  revision: revisionNumber,
  seen_pictures: seenPicturesField,
});

/** Adds the routes that write in a thread, and that decide an appeal. */
export const addGameThread = (app: FastifyInstance, options: ConsoleOptions): void => {
  const reviewer = { config: { right: 'decide' }, bodyLimit: FORM_MAX_BYTES } as const;

  app.post<ById<'game_id'>>('/games/:game_id/thread', reviewer, (request, reply) => {
    const game_id = toId(request.params.game_id);
    if (game_id === undefined) return sendError(reply, 404, 'No such game', 'There is no game with this id.');
    const filters = laneFilters.parse(request.body ?? {});
    return redirectAfter(reply, `${link(`/games/${game_id}`, filters)}#thread`, async () => {
      const { act, text } = threadForm.parse(request.body);
      await operateFor(request, options, act === 'note' ? noteGame : messageGame, { game_id, text });
      return act === 'note' ? 'The note is kept.' : 'The message is sent.';
    });
  });

  app.post<ById<'game_id'>>('/games/:game_id/appeal', reviewer, (request, reply) => {
    const game_id = toId(request.params.game_id);
    if (game_id === undefined) return sendError(reply, 404, 'No such game', 'There is no game with this id.');
    return redirectOnRefusal(reply, `/games/${game_id}`, async () => {
      const { act, revision, seen_pictures, ...read } = decisionForm.parse(request.body);
      const appeal = { game_id, ...read };
      if (act === 'uphold') await operateFor(request, options, upholdRejection, appeal);
      else await operateFor(request, options, overturnRejection, { ...appeal, revision, seen_pictures });
      const next = await leadToAppeal(options.sql, operatorOf(request).login, game_id);
      const done =
        act === 'uphold' ? 'The rejection is upheld.' : 'The rejection is overturned: the game is passed.';
      return redirectWith(reply, next ?? '/review/appeals', done);
    });
  });
};
