/** `/portal/sign-in`, `/portal/sign-out`, and who is signed in at the portal. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Holder } from '#db/queries/portal.ts';
import { SESSION_HOURS } from '#db/queries/sign-in.ts';
import { HTML, sendPlain, takeNotice } from '#src/console/answers.ts';
import { cookieName, isSecure } from '#src/console/cookies.ts';
import { html, type SafeHtml } from '#src/console/html.ts';
import type { Page } from '#src/console/layout.ts';
import type { ConsoleOptions } from '#src/console/options.ts';
import { portalPage } from '#src/console/portal/frame.ts';
import { isPolling } from '#src/console/site.ts';
import { readPortalSession, signInByToken, signOutOfPortal } from '#src/identity/portal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null outside the portal and on its public pages. */
    holder: Holder | null;
  }
}

const COOKIE = 'catalogue_portal';
const form = z.object({ token: z.string().max(1_024) });

const REFUSALS = {
  unknown: 'This is no API token of this platform: check that it is complete.',
  ended: 'This token has expired or is revoked: ask the platform for a new one.',
  operator: "This is an operator's token: use one of an application.",
};

const signInForm = (problem?: string): SafeHtml => {
  const flaw = problem === undefined ? null : html` aria-invalid="true" aria-describedby="problem"`;
  return html`<h1>Developer portal</h1><p>Where your games are, and why. Sign in with an API token of your application; the platform's operators create one.</p>${
    problem === undefined ? null : html`<p id="problem" role="alert">${problem}</p>`
  }
<form method="post" action="/portal/sign-in">
<label class="field"><span>API token</span><input name="token" type="password" autocomplete="off" autocapitalize="none" spellcheck="false" required autofocus${flaw}></label>
<button class="button primary">Sign in</button></form>`;
};

/** The holder of the session of a request that passed the check. */
export const holderOf = (request: FastifyRequest): Holder => {
  if (request.holder === null) throw new Error('this route is public: it has no holder');
  return request.holder;
};

/** Sends a page of the portal. */
export const sendPortal = (request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply => {
  const notice = page.notice ?? takeNotice(request, reply);
  return reply.type(HTML).send(String(portalPage(holderOf(request), { ...page, notice })));
};

/** Adds sign-in, sign-out and the check of every route with the right `application`. */
export const addPortalSession = (portal: FastifyInstance, { sql, url }: ConsoleOptions): void => {
  const nameOf = (request: FastifyRequest) => cookieName(request, url(), COOKIE);

  portal.decorateRequest('holder', null);
  portal.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.right !== 'application') return;
    request.holder =
      (await readPortalSession(sql, request.cookies[nameOf(request)], !isPolling(request))) ?? null;
    if (request.holder !== null) return;
    if (request.method === 'GET' && !isPolling(request)) return reply.redirect('/portal/sign-in', 303);
    return sendPlain(
      reply.code(401),
      'Not signed in',
      html`<h1>Not signed in</h1><p>Your session has ended. <a href="/portal/sign-in">Sign in</a></p>`,
    );
  });

  portal.get('/portal/sign-in', { config: { right: 'public' } }, async (_request, reply) =>
    sendPlain(reply, 'Developer portal', signInForm()),
  );

  portal.post('/portal/sign-in', { config: { right: 'public' } }, async (request, reply) => {
    const { token } = form.parse(request.body);
    const result = await signInByToken(sql, token.trim(), request.ip);
    if (result.kind === 'refused')
      return sendPlain(reply.code(401), 'Developer portal', signInForm(REFUSALS[result.why]));
    if (result.kind === 'too_many') {
      const { waitSeconds } = result;
      reply.code(429).header('retry-after', waitSeconds);
      const problem = `Too many sign-ins: retry in ${Math.ceil(waitSeconds / 60)} min.`;
      return sendPlain(reply, 'Developer portal', signInForm(problem));
    }
    const former = request.cookies[nameOf(request)];
    if (former !== undefined) await signOutOfPortal(sql, former);
    return reply
      .setCookie(nameOf(request), result.session, {
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure(request, url()),
        maxAge: SESSION_HOURS * 3_600,
      })
      .redirect('/portal', 303);
  });

  portal.post('/portal/sign-out', { config: { right: 'application' } }, async (request, reply) => {
    const name = nameOf(request);
    const session = request.cookies[name];
    if (session !== undefined) await signOutOfPortal(sql, session);
    return reply
      .clearCookie(name, { path: '/', secure: isSecure(request, url()) })
      .redirect('/portal/sign-in', 303);
  });
};
