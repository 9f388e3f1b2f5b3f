/** The frame of every page: head, navigation, notice, content. */

import type { SignedIn } from '#db/queries/sign-in.ts';
import { ASSETS } from '#src/console/assets.ts';
import { html, type SafeHtml } from '#src/console/html.ts';
import { hasRight, type Right } from '#src/contract/roles.ts';

export type Navigation = readonly (readonly [path: string, label: string, right: Right, icon: string])[];

/** What the pages of a site have in common. */
export type SiteFrame = {
  name: string;
  /** On the sign-in page. */
  lead: string;
  navigation: Navigation;
  /** Above every page. */
  warning: string | null;
};

/** The console's. */
export const NAVIGATION: Navigation = [
  ['/', 'Overview', 'view', 'M3 3h7v7H3zM14 3h7v4h-7zM14 11h7v10h-7zM3 14h7v7H3z'],
  ['/review', 'Review', 'view', 'M4 12l5 5L20 6'],
  ['/games', 'Games', 'view', 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z'],
  ['/applications', 'Applications', 'view', 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5'],
  ['/runs', 'Runs', 'view', 'M5 4v16l14-8z'],
  ['/failures', 'Failures', 'view', 'M12 4l9 16H3zM12 10v4M12 17v.5'],
  ['/queues', 'Queues', 'view', 'M4 6h16M4 12h16M4 18h10'],
  ['/reasons', 'Reasons', 'view', 'M5 4h14v12H9l-4 4z'],
  ['/audit', 'Audit log', 'read_audit', 'M6 3h9l4 4v14H6zM9 11h7M9 15h7'],
  ['/operators', 'Operators', 'manage_operators', 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20a7 7 0 0 1 14 0'],
];

export const icon = (path: string): SafeHtml =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"></path></svg>`;

export const head = (title: string): SafeHtml => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="htmx-config" content='{"includeIndicatorCSS":false,"history":"reload"}'>
<title>${title} · Game Catalogue</title>
<link rel="icon" href="${ASSETS.logo.url}">
<link rel="stylesheet" href="${ASSETS.css.url}">
<script src="${ASSETS.htmx.url}" defer></script>
<script src="${ASSETS.script.url}" type="module"></script>
</head>`;

/** A page that needs no sign-in: sign-in itself, and errors. @param warning of the site */
export const plainPage = (
  title: string,
  body: SafeHtml,
  warning: string | null,
): SafeHtml => html`${head(title)}
<body class="plain">
<main id="main" class="panel">
<img src="${ASSETS.logo.url}" alt="" width="44" height="44">
${warning === null ? null : html`<p class="notice warn">${warning}</p>`}${body}
</main>
</body>
</html>`;

export type Page = {
  title: string;
  /** The page opens with the focus on its heading, so that a screen reader reads it. */
  focusHeading?: boolean;
  /** The path of its entry in the navigation. */
  at: string;
  body: SafeHtml | SafeHtml[];
  /** Beside the heading. */
  actions?: SafeHtml | undefined;
  /** Below the heading. */
  lead?: SafeHtml | string | undefined;
  /** Above the heading: where this page belongs. */
  parent?: readonly [label: string, url: string];
  /** What happened at the last request. */
  notice?: { text: string; tone: 'good' | 'bad' } | undefined;
  /** Left of the heading. */
  mark?: SafeHtml;
};

const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['j  k', 'next, previous'],
  ['Enter', 'open'],
  ['x', 'select'],
  ['p', 'pass'],
  ['r', 'reject'],
  ['u', 'undo the last decision'],
  ['/', 'search'],
  ['?', 'this list'],
];

/** The content of a page, below its heading. @param warning above it */
export const pageContent = (
  page: Page,
  warning: string | null,
): SafeHtml => html`<main id="main" tabindex="-1">
${warning === null ? null : html`<p class="notice warn">${warning}</p>`}<div class="notices" role="status" aria-live="polite">${
  page.notice === undefined ? null : html`<p class="notice ${page.notice.tone}">${page.notice.text}</p>`
}</div>
<div class="head"><div class="heading">${page.mark ?? null}<div>${page.parent === undefined ? null : html`<a class="crumb" href="${page.parent[1]}">${page.parent[0]}</a>`}<h1${page.focusHeading ? html` tabindex="-1" autofocus` : null}>${page.title}</h1>${
  page.lead === undefined ? null : html`<p class="lead">${page.lead}</p>`
}</div></div>${page.actions === undefined ? null : html`<div class="actions">${page.actions}</div>`}</div>
${page.body}
</main>`;

/** A page for an operator who is signed in. */
export const signedInPage = (
  operator: SignedIn,
  page: Page,
  frame: SiteFrame,
): SafeHtml => html`${head(page.title)}
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="side">
<a class="brand" href="/"><img src="${ASSETS.logo.url}" alt="" width="26" height="26"><span>${frame.name}</span></a>
<nav aria-label="Main"><ul>${frame.navigation
  .filter(([, , right]) => hasRight(operator.roles, right))
  .map(
    ([path, label, , shape]) =>
      html`<li><a href="${path}"${path === page.at ? html` aria-current="page"` : null}>${icon(shape)}<span>${label}</span></a></li>`,
  )}</ul></nav>
<div class="who"><div><a href="/account"${page.at === '/account' ? html` aria-current="page"` : null}>${operator.name}</a><span>${operator.roles.join(', ').replaceAll('_', ' ') || 'no role'}</span></div>
<form method="post" action="/sign-out"><button class="button quiet">Sign out</button></form></div>
</header>
${pageContent(page, frame.warning)}
<dialog id="shortcuts" aria-labelledby="shortcuts-title"><h2 id="shortcuts-title">Shortcuts</h2>
<dl class="keys">${SHORTCUTS.map(([keys, what]) => html`<div><dt>${keys.split('  ').map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${what}</dd></div>`)}</dl>
<form method="dialog"><button class="button">Close</button></form></dialog>
</body>
</html>`;
