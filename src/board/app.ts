import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
} from 'fastify';
import { isLoopback } from '#src/board/address.ts';
import { isApi, refuse, SECURITY_HEADERS } from '#src/board/answers.ts';
import type { Login } from '#src/board/credentials.ts';
import { changesState, isForged } from '#src/board/origin.ts';
import { LOGO } from '#src/board/pages.ts';
import { addSignIn } from '#src/board/sign-in.ts';

export type BoardOptions = {
  /** Every queue to show, of either backend. They stay the caller's: closing the board does not close them. */
  queues: readonly Queue[];
  /** Who may sign in; without one the board answers to this machine's own names alone. */
  login: Login | null;
  /** Show everything, change nothing (BOARD_READ_ONLY). */
  readOnly: boolean;
  /** Addresses and CIDRs whose `X-Forwarded-For` names who asks (BOARD_TRUSTED_PROXIES). */
  trustedProxies: string[];
  /** A logger, or Fastify's options for one; silent without. */
  logger?: FastifyBaseLogger | FastifyServerOptions['logger'];
  /** Is the session cookie for https alone? Without it, `X-Forwarded-Proto` of the proxy in front decides. */
  secureCookies?: boolean;
};

const isLogger = (logger: BoardOptions['logger']): logger is FastifyBaseLogger =>
  typeof logger === 'object' && 'info' in logger && 'child' in logger;

/** What this board is open to, in words, in a line above every page. */
const openTo = (login: Login | null, readOnly: boolean): string | undefined => {
  if (login === null) {
    return `No login is set: only this machine can open this board${readOnly ? ', read only' : ''}`;
  }
  return readOnly ? 'Read only' : undefined;
};

/** Bull Board as a Fastify plugin. */
const bullBoard = ({ queues, login, readOnly }: BoardOptions) => {
  const line = openTo(login, readOnly);
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
  // Its own handler answers stack traces under NODE_ENV=development; thrown on, errors reach the app's.
  serverAdapter.setErrorHandler((error) => {
    throw error;
  });
  return serverAdapter.registerPlugin();
};

/**
 * Bull Board behind a login (design, sections 2 and 3): built, not listening. The caller has checked the
 * address with `checkBoardAddress`.
 */
export const buildBoard = async (options: BoardOptions): Promise<FastifyInstance> => {
  const { login, readOnly, trustedProxies, logger, secureCookies } = options;
  const app: FastifyInstance = fastify({
    ...(isLogger(logger) ? { loggerInstance: logger } : { logger: logger ?? false }),
    // The board polls every few seconds; what is worth a line is logged below.
    logController: new LogController({ disableRequestLogging: true }),
    // Not without a login: there a page elsewhere could pass for this machine by `X-Forwarded-Host`.
    trustProxy: login === null ? false : trustedProxies,
    bodyLimit: 256 * 1024,
    // BullMQ waits without limit for a backend that is away; a person does not.
    handlerTimeout: 30_000,
  });

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500;
    if (status >= 500)
      request.log.error({ err: error, method: request.method, url: request.url }, 'board error');
    // BullMQ phrases its own refusals ("cannot obliterate…"), which the operator needs to read.
    const message = status < 500 || isApi(request) ? error.message : 'The log says why.';
    return refuse(request, reply, { status, title: 'That did not work', message });
  });
  app.setNotFoundHandler((request, reply) =>
    refuse(request, reply, { status: 404, title: 'Not found', message: 'There is nothing at this address.' }),
  );

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    // Without a login, a name that is not this machine's own is a page elsewhere that rebound its DNS.
    if (login === null && !isLoopback(request.hostname)) {
      return refuse(request, reply, {
        status: 421,
        title: 'Not from here',
        message: 'This board has no login and answers to localhost only.',
      });
    }
    if (isForged(request.method, request.headers)) {
      return refuse(request, reply, {
        status: 403,
        title: 'Not from here',
        message: 'The request came from another site.',
      });
    }
  });

  const admit = login === null ? null : await addSignIn(app, { login, secureCookies });

  await app.register(async (board) => {
    if (admit !== null) board.addHook('onRequest', admit);
    board.addHook('onRequest', async (request, reply) => {
      if (!readOnly || !changesState(request.method)) return;
      // Bull Board's own adapters refuse as well; this holds for whatever routes it may grow.
      return refuse(request, reply.header('allow', 'GET, HEAD'), {
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
    // The policy keeps its web font out anyhow; without the link it is not asked for in vain.
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
