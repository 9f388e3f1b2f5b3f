import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  fastify,
  LogController,
} from 'fastify';
import { isLoopback } from '#src/board/address.ts';
import { isApi, SECURITY_HEADERS, sendError } from '#src/board/answers.ts';
import type { Login } from '#src/board/credentials.ts';
import { changesState, isForged } from '#src/board/origin.ts';
import { LOGO } from '#src/board/pages.ts';
import { addSignIn } from '#src/board/sign-in.ts';

export type BoardOptions = {
  /** The queues to show, in Redis or in Postgres. The caller closes them. */
  queues: readonly Queue[];
  /** Null: the board answers requests to localhost only, without a login. */
  login: Login | null;
  /** BOARD_READ_ONLY. */
  readOnly: boolean;
  /** Addresses and CIDRs whose `X-Forwarded-For` is trusted (BOARD_TRUSTED_PROXIES). */
  trustedProxies: string[];
  logger: FastifyBaseLogger;
};

/** The line at the top of every page: a warning if there is no login, and whether the board is read only. */
const describeAccess = (login: Login | null, readOnly: boolean): string | undefined => {
  if (login === null) {
    return `No login is set: only this machine can open this board${readOnly ? ', read only' : ''}`;
  }
  return readOnly ? 'Read only' : undefined;
};

/** Bull Board as a Fastify plugin. */
const bullBoard = ({ queues, login, readOnly }: BoardOptions) => {
  const line = describeAccess(login, readOnly);
  const serverAdapter = new FastifyAdapter();
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: readOnly })),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Game Catalogue',
        boardLogo: { path: LOGO, width: 28, height: 28 },
        favIcon: { default: LOGO, alternative: LOGO },
        ...(line === undefined ? {} : { environment: { label: line, color: '#b45309', textColor: '#fff' } }),
        hideDocsLink: true,
        miscLinks: login === null ? [] : [{ text: 'Sign out', url: '/logout' }],
      },
    },
  });
  // The error handler of Bull Board sends stack traces under NODE_ENV=development. This one passes errors to the app's.
  serverAdapter.setErrorHandler((error) => {
    throw error;
  });
  return serverAdapter.registerPlugin();
};

/**
 * Builds Bull Board behind a login. A request passes, in this order: security headers, the check of its host and its
 * origin, sign-in (`addSignIn`), the check of read-only mode, Bull Board.
 * @returns the app, not listening; call `checkBoardAddress` before it listens
 */
export const buildBoard = async (options: BoardOptions): Promise<FastifyInstance> => {
  const { login, readOnly, trustedProxies, logger } = options;
  const app: FastifyInstance = fastify({
    loggerInstance: logger,
    // The board polls every few seconds: only changes are logged (below).
    logController: new LogController({ disableRequestLogging: true }),
    // Without a login, `X-Forwarded-Host` could make a request of another site look local.
    trustProxy: login === null ? false : trustedProxies,
    bodyLimit: 256 * 1024,
    // BullMQ waits for an unreachable backend without limit.
    handlerTimeout: 30_000,
  });

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500;
    if (status >= 500)
      request.log.error({ err: error, method: request.method, url: request.url }, 'board error');
    // Under /api the operator needs the message of BullMQ ("cannot obliterate…").
    const message = status < 500 || isApi(request) ? error.message : 'See the log of the board.';
    return sendError(request, reply, { status, title: 'Request failed', message });
  });
  app.setNotFoundHandler((request, reply) =>
    sendError(request, reply, {
      status: 404,
      title: 'Not found',
      message: 'There is no page at this address.',
    }),
  );

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    // Without a login, another host name means DNS rebinding: a site points its name at this machine.
    if (login === null && !isLoopback(request.hostname)) {
      return sendError(request, reply, {
        status: 421,
        title: 'Forbidden',
        message: 'This board has no login and answers to localhost only.',
      });
    }
    if (isForged(request.method, request.headers)) {
      return sendError(request, reply, {
        status: 403,
        title: 'Forbidden',
        message: 'The request came from another site.',
      });
    }
  });

  const admit = login === null ? null : await addSignIn(app, login);

  await app.register(async (board) => {
    if (admit !== null) board.addHook('onRequest', admit);
    board.addHook('onRequest', async (request, reply) => {
      if (!readOnly || !changesState(request.method)) return;
      // Bull Board refuses changes in read-only mode too. This check also covers routes that a later version adds.
      return sendError(request, reply.header('allow', 'GET, HEAD'), {
        status: 405,
        title: 'Read only',
        message: 'This board is read only.',
      });
    });
    board.addHook('onResponse', async (request, reply) => {
      if (!changesState(request.method)) return;
      const { method, url, ip: address } = request;
      request.log.info({ method, url, address, status: reply.statusCode }, 'board action');
    });
    // Removes the link to a web font, which the Content-Security-Policy blocks.
    board.addHook('onSend', async (_request, reply, payload) =>
      typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
        ? payload.replace(/<link href="https:[^>]*>/, '')
        : payload,
    );
    await board.register(bullBoard(options));
  });

  await app.ready();
  return app;
};
