/** Parts of a page that its browser requests once the page is shown: icons, and marks of names. */
import { z } from 'zod';
import { isUuid } from '#src/lib/uuid.ts';
import { html } from '#src/site/html.ts';

/** Most games of one request, so that its address is not too long: those of a page of a lane. */
export const REQUESTED_MAX = 60;

/** An id and the space behind it. */
const ID_LENGTH = 37;

/** The parameter `games`: ids with spaces between them. Other texts are left out. */
export const requestedGames = z
  .string()
  .max(REQUESTED_MAX * ID_LENGTH)
  .transform((ids) => ids.split(' ').filter(isUuid))
  .catch([]);

/** Ends the requests of an element. htmx keeps an element that nothing replaces, so an empty element takes its place. */
export const END = html`<div hidden></div>`;
