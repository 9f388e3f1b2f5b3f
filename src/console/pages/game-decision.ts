/** The decision on a game, beside its name. */
import { rejectionFields, sendRejection } from '#src/console/pages/decision-form.ts';
import { DECISION_FORMS, passButton } from '#src/console/pages/game-pictures.ts';
import type { GameView } from '#src/console/pages/game-view.ts';
import { action, hiddenFields, html, IN_PLACE, link, type SafeHtml } from '#src/site/html.ts';

/** The form of a rejection, over the page. A game that is decided has no key for it. */
const rejection = ({ game, reasons }: GameView, hidden: SafeHtml[]): SafeHtml => {
  const isOpen = game.audit_status === 'pending';
  const opener = isOpen
    ? html`<summary class="button" data-key="r" data-opens="rejection" aria-keyshortcuts="r">
Reject… <kbd aria-hidden="true">r</kbd></summary>`
    : html`<summary class="button" data-opens="rejection">
${game.audit_status === 'rejected' ? 'Change reason…' : 'Change to rejected…'}</summary>`;
  return html`<details id="rejection">${opener}
<form method="post" action="/games/${game.game_id}" id="${DECISION_FORMS.reject}" class="panel-over"${IN_PLACE}>
${hidden}${rejectionFields(reasons)}${sendRejection('Reject')}</form></details>`;
};

/** The forms of a decision, on the revision that the page shows. */
export const decisionForms = (view: GameView): SafeHtml => {
  const { game, diff, filters, cursor } = view;
  const url = `/games/${game.game_id}`;
  if (diff.to !== game.revision)
    return html`<div id="decision"><p>Decisions are made on revision ${game.revision}.</p>
<a class="button primary" href="${link(url, filters)}">Show revision ${game.revision}</a></div>`;
  const seen = { revision: String(game.revision), seen_status: game.audit_status };
  const hidden = hiddenFields({ ...seen, ...filters, cursor });
  return html`<div id="decision" role="group" aria-label="Decision on revision ${game.revision}">
<form method="post" action="${url}" id="${DECISION_FORMS.pass}"${IN_PLACE}>${hidden}
${passButton(game, view.pictures)}</form>${rejection(view, hidden)}</div>`;
};

/** A link to another game, or to where the lane goes on. */
const stepLink = (url: string | undefined, label: string, key: string, inPlace = true): SafeHtml | null =>
  url === undefined
    ? null
    : html`<a class="button" href="${url}" data-key="${key}" aria-keyshortcuts="${key}"${inPlace ? IN_PLACE : null}>
${label} <kbd aria-hidden="true">${key}</kbd></a>`;

/** Back from the last decision, and to the games before and after. Next is beside the decision, as on an appeal. */
export const steps = ({ mayDecide, filters, nextUrl, furtherUrl, backUrl }: GameView): SafeHtml =>
  html`<div class="steps">
${mayDecide ? action('/undo', 'Undo', { fields: filters, key: 'u', inPlace: true, id: 'undo' }) : null}
${stepLink(backUrl, 'Previous', 'k')}${stepLink(nextUrl, 'Next', 'j')}
${stepLink(furtherUrl, 'Search further', 'j', false)}</div>`;
