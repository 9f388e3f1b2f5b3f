/**
 * What every site for operators has, the console and the KYC desk. A request passes, in this order: security headers, the
 * check of its origin, the session, the right that its route names, the page.
 */
import { fastifyCookie } from '@fastify/cookie';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ZodError } from 'zod';
import { operatorActor } from '#db/queries/audit.ts';
import { deleteExpired, type SignedIn } from '#db/queries/sign-in.ts';
import { refusesService } from '#db/sqlstate.ts';
import { hasRight, listRoles, namesOfRoles, RIGHTS } from '#src/contract/roles.ts';
import { CatalogueError, isUnreachable } from '#src/errors.ts';
import { createServer } from '#src/http/create-server.ts';
import { createLimitedLog } from '#src/http/limited-log.ts';
import { recordKnownRefusal } from '#src/identity/refusals.ts';
import { readSession } from '#src/identity/sign-in.ts';
import { ForbiddenError } from '#src/operations/operation.ts';
import { addAccount } from '#src/site/account.ts';
import { HTTPS_ONLY, SECURITY_HEADERS, sendError } from '#src/site/answers.ts';
import { addAssets } from '#src/site/assets.ts';
import { isSecure } from '#src/site/cookies.ts';
import type { SiteFrame } from '#src/site/layout.ts';
import type { SiteOptions } from '#src/site/options.ts';
import { changesState, FROM_ANOTHER_SITE, isForged } from '#src/site/origin.ts';
import { addSignIn, readSessionCookie } from '#src/site/sign-in.ts';

/** Small, because anyone may send a body of this size. A sign-in needs a few hundred bytes. */
const BOUNDS = { bodyMaxBytes: 4 * 1024, connectionsMax: 2_000 };

/** Sessions, links and counts of attempts that have expired are deleted this often. */
const TIDY_MS = 60_000;

const NO_PAGE = 'There is no page at this address.';

/** Postgres stores no text that contains it. */
const NUL = '\u0000';
const NUL_IN_FORM = 'The form contains the character U+0000, which no field can have.';

/** Parses a form. A name that appears more than once becomes an array. */
const parseForm = (body: string): Record<string, string | string[]> => {
  const form: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(body)) {
    if (value.includes(NUL)) throw Object.assign(new Error(NUL_IN_FORM), { statusCode: 400 });
    const before = form[name];
    // A copy for each value would take time quadratic in their number.
    if (Array.isArray(before)) before.push(value);
    else form[name] = before === undefined ? value : [before, value];
  }
  return form;
};

/** Did a page make this request by itself? Such requests do not keep a session open. */
export const isPolling = (request: FastifyRequest): boolean =>
  request.method === 'GET' &&
  (request.url.startsWith('/queues/api/') ||
    (request.headers['hx-request'] === 'true' && request.headers['hx-boosted'] !== 'true'));

/** Some proxies append the port of their client, which would give each connection limits of its own. */
const dropForwardedPorts = async ({ raw: { headers } }: FastifyRequest): Promise<void> => {
  const addresses = headers['x-forwarded-for'];
  if (typeof addresses === 'string')
    headers['x-forwarded-for'] = addresses.replace(/(\d+(?:\.\d+){3}):\d+|\[([^\],]+)\](?::\d+)?/g, '$1$2');
};

/** Builds a site without its pages: it serves its own files and the sign-in. */
export const createSite = async (options: SiteOptions, frame: SiteFrame): Promise<FastifyInstance> => {
  const { sql, logger, trustedProxies } = options;
  const app = createServer(logger, BOUNDS, {
    trustProxy: trustedProxies.length === 0 ? false : trustedProxies,
    // BullMQ waits for an unreachable backend without limit.
    handlerTimeout: 30_000,
    // No hook has run before this handler.
    frameworkErrors: ({ statusCode = 400 }, _request, reply) => {
      reply.headers(SECURITY_HEADERS);
      sendError(reply, statusCode, 'Not found', NO_PAGE);
    },
  });
  if (trustedProxies.length > 0) app.addHook('onRequest', dropForwardedPorts);
  const warn = createLimitedLog();
  await app.register(fastifyCookie);
  app.decorateRequest('operator', null);
  app.decorate('frame', frame);
  app.decorate('siteUrl', options.url);
  // JSON may contain U+0000 and numbers, which no form has.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string) => parseForm(body),
  );

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    if (error instanceof ForbiddenError) return sendError(reply, 403, 'Not allowed', error.message);
    if (error instanceof CatalogueError) return sendError(reply, 409, 'Not done', error.message);
    if (error instanceof ZodError) return sendError(reply, 400, 'Not done', 'The form is incomplete.');
    const status = error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500;
    const { method, url } = request;
    if (status >= 500) request.log.error({ err: error, method, url: url.split('?')[0] }, 'request failed');
    if (isUnreachable(error) || refusesService(error)) {
      const message = 'The database or the queue does not answer. Retry in a moment.';
      return sendError(reply, 503, 'Not available', message);
    }
    const message =
      status < 500 ? error.message : 'Retry. If it fails again, the log of this process says why.';
    return sendError(reply, status, 'The request failed', message);
  });
  const findOperator = async (request: FastifyRequest): Promise<SignedIn | null> =>
    (await readSession(sql, readSessionCookie(request), frame.site, !isPolling(request))) ?? null;
  app.setNotFoundHandler(async (request, reply) => {
    request.operator = await findOperator(request).catch(() => null);
    return sendError(reply, 404, 'Not found', NO_PAGE);
  });
  app.addHook('onRoute', ({ config, url }) => {
    if (config?.right === undefined) throw new Error(`the route ${url} does not say who may call it`);
  });

  /** Answers a request of a person who is not signed in, or may not do this. */
  const requireOperator = async (request: FastifyRequest, reply: FastifyReply) => {
    const { right } = request.routeOptions.config;
    // The portal has sessions of its own (portal/session.ts).
    if (right === undefined || right === 'public' || right === 'application') return;
    request.operator = await findOperator(request);
    const { operator } = request;
    if (operator === null) {
      if (request.method === 'GET' && !isPolling(request))
        return reply.redirect(`/sign-in?next=${encodeURIComponent(request.url)}`, 303);
      return sendError(reply, 401, 'Not signed in', 'Your session has ended, or you did not sign in.');
    }
    if (right === 'signed_in' || hasRight(operator.roles, right)) return;
    const seen = { route: request.routeOptions.url, address: request.ip, login: operator.login, right };
    warn(request.log, 'right', seen, 'access refused');
    if (changesState(request.method)) {
      const subject = `page:${request.routeOptions.url}`;
      const details = { site: frame.site, address: request.ip };
      const entry = { ...operatorActor(operator.login), action: 'access.refuse', subject, details } as const;
      await recordKnownRefusal(sql, entry);
    }
    const held = listRoles(operator.roles);
    const message = `This takes the role ${namesOfRoles(RIGHTS[right])}. You have ${held}. Ask an administrator for it.`;
    return sendError(reply, 403, 'Not allowed', message);
  };

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    if (isSecure(request)) reply.headers(HTTPS_ONLY);
    const seen = { route: request.routeOptions.url, address: request.ip };
    if (isForged(request.method, request.headers)) {
      warn(request.log, 'origin', seen, 'request of another origin refused');
      return sendError(reply, 403, 'Refused', FROM_ANOTHER_SITE);
    }
    const parts = Object.values((request.params ?? {}) as Record<string, string>);
    if (parts.some((part) => part.includes(NUL))) return reply.callNotFound();
    return requireOperator(request, reply);
  });
  // A body may take ten seconds, in which a session ends or a role is taken away.
  app.addHook('preHandler', async (request, reply) =>
    changesState(request.method) ? requireOperator(request, reply) : undefined,
  );

  const tidy = (): void =>
    void deleteExpired(sql, frame.site).catch((err: unknown) =>
      logger.warn({ err }, 'expired sessions not deleted'),
    );
  const tidying = setInterval(tidy, TIDY_MS).unref();
  app.addHook('onListen', async () => tidy());
  app.addHook('onClose', async () => clearInterval(tidying));

  addAssets(app);
  addSignIn(app, options);
  addAccount(app, options);
  return app;
};
