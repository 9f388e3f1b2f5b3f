import { createHash } from 'node:crypto';

/** The logo of these pages and of Bull Board's header, as a data URL. */
export const LOGO = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0f6f64"/><g fill="#fff"><rect x="7" y="7" width="8" height="8" rx="2"/><rect x="17" y="7" width="8" height="8" rx="2" opacity=".55"/><rect x="7" y="17" width="8" height="8" rx="2" opacity=".55"/><path d="M18 17.6v6.8a.9.9 0 0 0 1.4.7l5.3-3.4a.9.9 0 0 0 0-1.4l-5.3-3.4a.9.9 0 0 0-1.4.7Z"/></g></svg>',
)}`;

// Bull Board's colours.
const STYLE = `
:root{color-scheme:light dark;--ink:#20262c;--soft:#5f6b76;--line:#87919b;--page:#f3f5f7;--card:#fff;--accent:#0f6f64;--press:#0b5a51;--on-accent:#fff;--bad:#b42318;--bad-page:#fef3f2}
@media(prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#a0abb8;--line:#6b7684;--page:#151a21;--card:#1c232d;--accent:#3ecfb2;--press:#62dcc3;--on-accent:#0c1f1b;--bad:#fda29b;--bad-page:#3a1a1a}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1.5rem;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:23rem;padding:2.25rem 2rem;background:var(--card);border-radius:1rem;box-shadow:0 1px 2px #0f111814,0 12px 32px #0f11181f}
img{display:block;width:3rem;height:3rem;margin-bottom:1.25rem}
h1{margin:0;font-size:1.375rem;line-height:1.25;letter-spacing:-.01em}
p{margin:.375rem 0 0;color:var(--soft)}
form{margin-top:1.5rem}
label{display:block;margin:1rem 0 .375rem;font-size:.875rem;font-weight:600}
input{width:100%;padding:.625rem .75rem;border:1px solid var(--line);border-radius:.5rem;background:var(--card);color:inherit;font:inherit}
button{width:100%;margin-top:1.5rem;padding:.6875rem;border:0;border-radius:.5rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;cursor:pointer}
button:hover{background:var(--press)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a{color:inherit}
[role=alert]{margin:1.25rem 0 0;padding:.625rem .75rem;border-radius:.5rem;background:var(--bad-page);color:var(--bad);font-size:.9375rem}
`;

/** These pages run no script, load nothing, and apply one style, which the policy names by its hash. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Game Catalogue</title>
<link rel="icon" href="${LOGO}">
<style>${STYLE}</style>
</head>
<body>
<main>
<img src="${LOGO}" alt="">
${content}
</main>
</body>
</html>
`;

/**
 * The sign-in form.
 * @param next the path to open after sign-in
 * @param problem why the last attempt failed
 */
export const loginPage = ({ next, problem }: { next: string; problem?: string }): string => {
  const flaw = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"';
  return page(
    'Sign in',
    `<h1>Game Catalogue</h1>
<p>Sign in to the job board.</p>
${problem === undefined ? '' : `<p id="problem" role="alert">${escapeHtml(problem)}</p>`}
<form method="post" action="/login">
<input type="hidden" name="next" value="${escapeHtml(next)}">
<label for="user">User</label>
<input id="user" name="user" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus${flaw}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${flaw}>
<button>Sign in</button>
</form>`,
  );
};

/** The sign-out form: Bull Board's menu has links only, and signing out needs a POST. */
export const logoutPage = (): string =>
  page(
    'Sign out',
    `<h1>Sign out?</h1>
<p>Jobs keep running. <a href="/">Back to the board</a></p>
<form method="post" action="/logout"><button>Sign out</button></form>`,
  );

export const errorPage = (title: string, message: string): string =>
  page(
    title,
    `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(message)}</p>\n<p><a href="/">Back to the board</a></p>`,
  );
