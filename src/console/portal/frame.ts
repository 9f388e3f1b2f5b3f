/** The frame of the portal's pages. */
import type { Holder } from '#db/queries/portal.ts';
import { ASSETS } from '#src/console/assets.ts';
import { html, type SafeHtml } from '#src/console/html.ts';
import { head, icon, type Page, pageContent } from '#src/console/layout.ts';

const NAVIGATION: readonly (readonly [path: string, label: string, icon: string])[] = [
  ['/portal', 'Overview', 'M3 3h7v7H3zM14 3h7v4h-7zM14 11h7v10h-7zM3 14h7v7H3z'],
  ['/portal/games', 'Games', 'M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z'],
  ['/portal/runs', 'Runs and failures', 'M5 4v16l14-8z'],
  ['/portal/events', 'Events', 'M4 5h16v11H9l-5 4z'],
  ['/portal/checks', 'Checks', 'M4 12l5 5L20 6'],
];

/** A page for an application's developer who is signed in. */
export const portalPage = (holder: Holder, page: Page): SafeHtml => html`${head(page.title)}
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="side">
<a class="brand" href="/portal"><img src="${ASSETS.logo.url}" alt="" width="26" height="26"><span>Developer portal</span></a>
<nav aria-label="Main"><ul>${NAVIGATION.map(
  ([path, label, shape]) =>
    html`<li><a href="${path}"${path === page.at ? html` aria-current="page"` : null}>${icon(shape)}<span>${label}</span></a></li>`,
)}</ul></nav>
<div class="who"><div><strong>${holder.name}</strong><span>${holder.application_id}, token ${holder.token_name}</span></div>
<form method="post" action="/portal/sign-out"><button class="button quiet">Sign out</button></form></div>
</header>
${pageContent(page, null)}
</body>
</html>`;
