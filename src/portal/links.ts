import { html, link, number, type SafeHtml } from '#src/site/html.ts';
import type { LinkTo } from '#src/site/list-table.ts';

/** The page of a game. The id is a parameter, because as a part of the path, "." and ".." would disappear. */
export const gameUrl = (application_game_id: string): string =>
  link('/portal/game', { id: application_game_id });

/** The `game_id` of the application, as a link. */
export const idLink = (application_game_id: string): SafeHtml =>
  html`<a class="mono" href="${gameUrl(application_game_id)}">${application_game_id}</a>`;

/** Puts commas between names. */
const withCommas = (names: readonly SafeHtml[]): SafeHtml[] =>
  names.map((name, n) => html`${n === 0 ? null : ', '}${name}`);

/** Orders ids as people count: 2 before 11. */
export const byNumber = new Intl.Collator('en', { numeric: true }).compare;

/** Names that are seen at once. */
const NAMED = 3;

/** Shows some names, and folds the others. @param all how many there are, if `names` are not all */
export const nameSome = (names: readonly SafeHtml[], all = names.length): SafeHtml => {
  // One more name needs no more room than the words that would fold it.
  const seen = all === NAMED + 1 ? all : NAMED;
  const [named, others] = [names.slice(0, seen), names.slice(seen)];
  const more = (count: number): string => `and ${number(count)} more`;
  const beyond = all > names.length ? ` ${more(all - names.length)}` : null;
  const folded =
    others.length === 0
      ? beyond
      : html`<details><summary>${more(all - named.length)}</summary><span>${withCommas(others)}${beyond}</span></details>`;
  return html`<span>${withCommas(named)}</span>${folded}`;
};

/** The form by which the application writes about a game. */
export const threadUrl = (application_game_id: string): string => `${gameUrl(application_game_id)}#write`;

/** The portal's pages of subjects: games, by the ids of their application. */
export const linkTo: LinkTo = (subject) =>
  subject.to === 'application_game' ? gameUrl(subject.application_game_id) : null;
