import { CURRENT, html, type SafeHtml } from '#src/site/html.ts';

/** `mark`: what of it waits. */
type Tab = { url: string; text: string; count: string; mark?: SafeHtml | null; isOpen: boolean };

/** Links to the parts of a list, with the number of rows of each. A phone has room for what waits alone. */
export const tabs = (label: string, shown: readonly Tab[]): SafeHtml =>
  html`<nav class="tabs" aria-label="${label}">${shown.map(
    ({ url, text, count, mark, isOpen }) => html`<a href="${url}"${isOpen ? CURRENT : null}>
<span>${text}</span> <span class="badge${mark && ' from-640'}">${count}</span>${mark && html` ${mark}`}</a>`,
  )}</nav>`;
