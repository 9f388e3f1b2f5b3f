/** The frame of every page: head, navigation, notice, content. */

import type { SignedIn } from '#db/queries/sign-in.ts';
import { hasRight, listRoles, type Right, type Site } from '#src/contract/roles.ts';
import { ASSETS, SCRIPTS } from '#src/site/assets.ts';
import { attribute, CURRENT, html, type SafeHtml } from '#src/site/html.ts';

/** A place in the navigation. The icon is the path of an SVG. */
type Place = readonly [path: string, label: string, icon: string, right?: Right];

/** Operators see the places that they have the right to. */
export type Navigation = readonly Required<Place>[];

/** What the pages of a site have in common. */
export type SiteFrame = {
  site: Site;
  name: string;
  /** On the sign-in page. */
  lead: string;
  navigation: Navigation;
  /** A warning above every page. */
  warning: string | null;
  /** On the page of an address that does not exist. */
  wayOn?: SafeHtml;
  /** What waits in places of the navigation. */
  counts?: () => PlaceCounts;
  /** How many games an operator has decided today. */
  decidedToday?: (login: string) => number;
};

/** How many wait for a person, or a mark, by the path of a place. */
export type PlaceCounts = Readonly<Record<string, SafeHtml | string | undefined>>;

/** The navigation of the console. */
export const NAVIGATION: Navigation = [
  ['/', 'Overview', 'M3 3h7v7H3zM14 3h7v4h-7zM14 11h7v10h-7zM3 14h7v7H3z', 'view'],
  ['/review', 'Review', 'M4 12l5 5L20 6', 'view'],
  ['/figures', 'Figures', 'M4 20V10h4v10M10 20V4h4v16M16 20v-7h4v7', 'view'],
  ['/games', 'Games', 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z', 'view'],
  ['/applications', 'Applications', 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5', 'view'],
  ['/runs', 'Runs', 'M5 4v16l14-8z', 'view'],
  ['/failures', 'Failures', 'M12 4l9 16H3zM12 10v4M12 17v.5', 'view'],
  ['/queues', 'Queues', 'M4 6h16M4 12h16M4 18h10', 'view'],
  ['/reasons', 'Reasons', 'M5 4h14v12H9l-4 4z', 'view'],
  ['/audit', 'Audit log', 'M6 3h9l4 4v14H6zM9 11h7M9 15h7', 'read_audit'],
  ['/tokens', 'API tokens', 'M8 12a4 4 0 1 0 0 .1zM12 12h9M17 12v4M20.5 12v3', 'manage_applications'],
  ['/operators', 'Operators', 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM5 20a7 7 0 0 1 14 0', 'manage_operators'],
];

/** With a space above them: the fleet, and the administration. */
const GROUPS: readonly string[] = ['/applications', '/reasons'];

/** The end of every page. A page that arrives in parts is shown when this is there, so nothing of it moves. */
const END = html`<span id="whole" hidden></span>
</body>
</html>`;

const head = (title: string): SafeHtml => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="htmx-config" content='{"includeIndicatorCSS":false,"history":"reload"}'>
<title>${title} · Game Catalogue</title>
<link rel="expect" href="#whole" blocking="render">
<link rel="icon" href="${ASSETS.logo.url}">
<link rel="stylesheet" href="${ASSETS.css.url}">
<script src="${ASSETS.htmx.url}" defer></script>
${SCRIPTS.map(
  ({ url }) => html`<script src="${url}" type="module"></script>
`,
)}</head>`;

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
${END}`;

/** `undo`: it offers to undo what it reports. */
export type Notice = { text: string; tone: 'good' | 'info' | 'bad' | 'undo' };

export type Page = {
  title: string;
  /** The heading in place of the title, with markup. */
  heading?: SafeHtml | string;
  /** The page opens with the focus on its heading, so that a screen reader reads it. */
  focusHeading?: boolean;
  /** The path of its entry in the navigation. */
  at: string;
  body: SafeHtml | SafeHtml[];
  /** Buttons beside the heading. */
  actions?: SafeHtml | undefined;
  /** A sentence below the heading. */
  lead?: SafeHtml | string | undefined;
  /** The link above the heading to the page that this one belongs to. */
  parent?: readonly [label: string, url: string];
  /** What happened at the last request. */
  notice?: Notice | undefined;
  /** Left of the heading. */
  mark?: SafeHtml;
};

/** What is around the pages of a person who is signed in. */
type PageFrame = {
  site: Site;
  name: string;
  /** The prefix of the paths of the overview and of sign-out, and a class for styles; "" for the root. */
  base: string;
  places: readonly Place[];
  /** Who is signed in. */
  who: SafeHtml;
  /** Above the content. */
  warning: string | null;
  counts?: (() => PlaceCounts) | undefined;
};

const countOf = (count: SafeHtml | string | undefined): SafeHtml | null =>
  count === undefined ? null : html` <span class="count">${count}</span>`;

const placeItem = ([path, label, icon]: Place, at: string, counts: PlaceCounts): SafeHtml =>
  html`<li${GROUPS.includes(path) ? html` class="group"` : null}><a href="${path}"${path === at ? CURRENT : null}>
<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="${icon}"></path></svg>
<span>${label}</span>${countOf(counts[path])}</a></li>`;

const placeItems = (places: readonly Place[], at: string, counts: PlaceCounts): SafeHtml[] =>
  places.map((place) => placeItem(place, at, counts));

/** The button of the page's form that undoes the last decision. */
const UNDO = html` <button class="button quiet" form="undo">Undo</button>`;

const noticeOf = ({ notice }: Page): SafeHtml | null => {
  if (notice === undefined) return null;
  const { text, tone } = notice;
  if (tone === 'undo') return html`<p class="notice good">${text}${UNDO}</p>`;
  return html`<p class="notice ${tone}">${text}</p>`;
};

/** The title of a page, with what stands around it. */
const headOf = ({
  title,
  heading: shown = title,
  mark,
  parent,
  lead,
  actions,
  focusHeading,
}: Page): SafeHtml => {
  const crumb = parent === undefined ? null : html`<a class="crumb" href="${parent[1]}">${parent[0]}</a>`;
  const heading = html`<h1${focusHeading ? html` tabindex="-1" autofocus` : null}>${shown}</h1>`;
  return html`<div class="head"><div class="heading">${mark ?? null}<div>${crumb}${heading}
${lead === undefined ? null : html`<p class="lead">${lead}</p>`}</div></div>
${actions === undefined ? null : html`<div class="actions">${actions}</div>`}</div>`;
};

/** A page for a person who is signed in. @param after below the content */
export const framedPage = (
  page: Page,
  { site, name, base, places, who, warning, counts = () => ({}) }: PageFrame,
  after: SafeHtml | null = null,
): SafeHtml => html`${head(page.title)}
<body${attribute('class', base.slice(1) || undefined)}>
<a class="skip" href="#main">Skip to content</a>
<header class="side">
<a class="brand" href="${base || '/'}">
<img src="${ASSETS.logo.url}" alt="" width="26" height="26"><span>${name}</span></a>
<nav aria-label="Main"><ul>${placeItems(places, page.at, counts())}</ul></nav>
<div class="who"><div>${who}</div>
<form method="post" action="${base}/sign-out"><button class="button quiet">Sign out</button></form></div>
</header>
<main id="main" tabindex="-1">
${warning === null ? null : html`<p class="notice warn">${warning}</p>`}
<toast-stack class="notices" role="status" aria-live="polite"${site === 'kyc_desk' ? null : html` data-drafts`}>${noticeOf(page)}</toast-stack>
${headOf(page)}
${page.body}
</main>${after}
${END}`;

type Shortcuts = readonly (readonly [keys: string, what: string])[];

const MOVES: Shortcuts = [
  ['j  k', 'next, previous'],
  ['Enter', 'open'],
];
const FINDS: Shortcuts = [
  ['/', 'search'],
  ['?', 'this list'],
];
const DECISIONS: Shortcuts = [
  ['p', 'pass'],
  ['r', 'reject; then a digit for the reason'],
  ['o', 'overturn a rejection that is appealed'],
  ['h', 'uphold it'],
  ['Ctrl+Enter', 'send the open form'],
  ['u', 'undo the last decision'],
];
const PICTURES: Shortcuts = [
  ['1–9', 'open a picture'],
  ['Space', 'open and close the first picture'],
  ['←  →', 'previous, next picture'],
  ['z', 'zoom into a picture'],
];
/** The shortcuts in the dialog of each site, by heading. */
const SHORTCUTS: Record<Site, Readonly<Record<string, Shortcuts>>> = {
  console: {
    Lists: [...MOVES, ['x', 'select']],
    Decisions: DECISIONS,
    Pictures: PICTURES,
    'Every page': FINDS,
  },
  kyc_desk: { Lists: MOVES, Developers: [['v', 'give a verdict']], 'Every page': FINDS },
};

const shortcutRow = ([keys, what]: Shortcuts[number]): SafeHtml =>
  html`<div><dt>${keys.split('  ').map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${what}</dd></div>`;

const shortcutGroup = ([head, rows]: [string, Shortcuts]): SafeHtml =>
  html`<h3>${head}</h3><dl class="keys">${rows.map(shortcutRow)}</dl>`;

const shortcuts = (areOn: boolean, site: Site): SafeHtml => html`
<shortcut-scope${areOn ? null : html` off`}><dialog id="shortcuts" aria-labelledby="shortcuts-title"><h2 id="shortcuts-title">Shortcuts</h2>
${Object.entries(SHORTCUTS[site]).map(shortcutGroup)}
<form method="dialog"><button class="button">Close</button></form></dialog></shortcut-scope>`;

const ownCount = (games: number): SafeHtml | null =>
  games === 0
    ? null
    : html`
<a class="own" href="/figures" title="Games that you have decided since 00:00 UTC">You: ${games} today</a>`;

/** A page for an operator who is signed in. */
export const signedInPage = (
  { login, name, roles, single_keys }: SignedIn,
  page: Page,
  frame: SiteFrame,
): SafeHtml => {
  const who = html`<a href="/account" data-who="${login}"${page.at === '/account' ? CURRENT : null}>${name}</a>
<span>${listRoles(roles)}</span>${ownCount(frame.decidedToday?.(login) ?? 0)}`;
  const places = frame.navigation.filter(([, , , right]) => hasRight(roles, right));
  return framedPage(page, { ...frame, base: '', places, who }, shortcuts(single_keys, frame.site));
};
