/**
 * Two Bull Boards under `/queues/`: administrators get one that can change jobs, the other roles a read-only one. The
 * console checks session and right, then hands the request over.
 */
import type { IncomingMessage } from 'node:http';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { Job, type JobJson, type JobType, type Queue } from 'bullmq';
import type { FastifyError, FastifyInstance } from 'fastify';
import { z } from 'zod';
import { operatorActor, recordAudit } from '#db/queries/audit.ts';
import { hasRight } from '#src/contract/roles.ts';
import { createServer } from '#src/http/create-server.ts';
import { readSession } from '#src/identity/sign-in.ts';
import { describeSinglePersonActions } from '#src/operations/second-person.ts';
import { jsonLength, readJob } from '#src/queue/large-jobs.ts';
import type { Producer } from '#src/queue/producer.ts';
import { operatorOf, SECURITY_HEADERS, sendError } from '#src/site/answers.ts';
import { ASSETS } from '#src/site/assets.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { changesState } from '#src/site/origin.ts';
import { readSessionCookie } from '#src/site/sign-in.ts';

const BASE = '/queues';

/** Valid query parameters. Bull Board does not validate them, and would read any number of jobs. */
const boardQuery = z.object({
  activeQueue: z
    .string()
    .regex(/^[^%\0]*$/)
    .optional(),
  status: z
    .string()
    .regex(/^[a-z-]*$/)
    .optional(),
  page: z.coerce.number().int().min(0).max(1_000_000).optional(),
  jobsPerPage: z.coerce.number().int().min(0).max(200).optional(),
});

/** A request of the board: at most the data of a job that an administrator edits. */
const BODY_MAX_BYTES = 256 * 1024;

/** Bull Board uses style attributes, a `<base>` element, and `data:` images in its CSS. Inline scripts stay forbidden. */
const BOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
].join('; ');

/** Most characters of a job that is shown, as JSON. Our jobs contain only ids. */
const JOB_MAX = 16 * 1024;

/** Cuts a job that is too large. An attacker in another process can write jobs of a megabyte, and a page shows up to 1,400. */
const shorten = (job: Job): Job => {
  if (jsonLength(job.toJSON()) <= JOB_MAX) return job;
  const name = String(job.name).slice(0, 100);
  return Object.assign(job, {
    name,
    data: 'This job is too large to be shown.',
    opts: {},
    progress: 0,
    returnvalue: null,
    stacktrace: [],
    failedReason: job.failedReason?.slice(0, 1_000),
  });
};

const UNREADABLE: Partial<JobJson> = {
  name: 'This job cannot be read.',
  data: '{}',
  opts: {},
  timestamp: 0,
  attemptsMade: 0,
};

/** Reads a job. One that cannot be read is shown as `UNREADABLE` with its id, so that it can be removed. */
const readShown = async (producer: Producer, queue: Queue, id: string): Promise<Job | undefined> => {
  const job = await readJob(producer, queue, id);
  return job === 'unreadable' ? Job.fromJSON(queue, { ...UNREADABLE, id } as JobJson, id) : job;
};

/** Schedulers of a queue that are shown: those that are due next, because each application has two. */
const SCHEDULERS_MAX = 200;

/** A queue on the board, whose jobs are read one after another. */
const onBoard = (producer: Producer, queue: Queue, readOnlyMode: boolean): BullMQAdapter => {
  const getJobSchedulers = { value: () => queue.getJobSchedulers(0, SCHEDULERS_MAX - 1, true) };
  const adapter = new BullMQAdapter(Object.create(queue, { getJobSchedulers }), { readOnlyMode });
  adapter.getJobs = async (statuses, start = 0, end = -1) => {
    const jobs: Job[] = [];
    for (const id of await queue.getRanges(statuses as JobType[], start, end)) {
      const job = await readShown(producer, queue, id);
      if (job !== undefined) jobs.push(shorten(job));
    }
    return jobs;
  };
  // No job of ours writes any, and others could write gigabytes.
  adapter.getJobLogs = async () => [];
  adapter.getJob = async (id) => {
    const job = await readShown(producer, queue, id);
    if (job === undefined) return job;
    // By default BullMQ also removes every job that this one names as a child, in any queue.
    const remove = job.remove.bind(job, { removeChildren: false });
    return Object.assign(shorten(job), { remove, removeUnprocessedChildren: undefined });
  };
  return adapter;
};

/** Bounds the view of a job's children. By `root: 'node'`, Bull Board does not follow parents, which can form a circle. */
const FLOW_QUERY = { root: 'node', depth: '2', maxChildren: '20' };

/** For each request: may its sender still do this? Asked when the body has arrived. */
const senderChecks = new WeakMap<IncomingMessage, () => Promise<boolean>>();

/** At the end of the head of each page of the board. The tokens are those of Bull Board. */
const WAY_BACK = `<style>
#way-back { position: fixed; z-index: 100; top: calc(var(--header-offset) - var(--header-height));
  right: var(--body-padding); color: var(--foreground); line-height: 64px; text-underline-offset: 0.2em }
#root header ul { margin-right: 5.5rem }
@media (max-width: 768px) { #way-back { line-height: 48px } }
</style>
<a id="way-back" href="/queues">← Console</a>
`;

/** Builds one Bull Board, not listening. */
export const buildBoard = async (
  { producer, logger, fourEyes }: Pick<ConsoleOptions, 'producer' | 'logger' | 'fourEyes'>,
  readOnlyMode: boolean,
): Promise<FastifyInstance> => {
  const label = [readOnlyMode ? 'Read only.' : null, describeSinglePersonActions(fourEyes)]
    .filter((text) => text !== null)
    .join(' ');
  const serverAdapter = new FastifyAdapter();
  serverAdapter.setBasePath(BASE);
  const logo = ASSETS.logo.url;
  createBullBoard({
    queues: producer.queues().map((queue) => onBoard(producer, queue, readOnlyMode)),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'Queues',
        boardLogo: { path: logo, width: 28, height: 28 },
        favIcon: { default: logo, alternative: logo },
        ...(label !== '' && { environment: { label, color: '#b45309', textColor: '#fff' } }),
        hideDocsLink: true,
      },
    },
  });
  // The error handler of Bull Board sends stack traces under NODE_ENV=development. This one passes errors to the handler of `board`, below.
  serverAdapter.setErrorHandler((error) => {
    throw error;
  });
  const board = createServer(
    logger,
    { bodyMaxBytes: BODY_MAX_BYTES, connectionsMax: 1 },
    // BullMQ waits for an unreachable backend without limit.
    { handlerTimeout: 30_000 },
  );
  board.decorateRequest('operator', null);
  board.setErrorHandler<FastifyError>((error, request, reply) => {
    const status = error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500;
    if (status >= 500) request.log.error({ err: error, method: request.method }, 'board error');
    // The operator needs the message of BullMQ ("cannot obliterate…").
    return sendError(reply, status, 'The request failed', error.message);
  });
  board.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.url?.endsWith('/flow')) request.query = FLOW_QUERY;
    reply.headers({ ...SECURITY_HEADERS, 'content-security-policy': BOARD_POLICY });
  });
  // The body may arrive ten seconds after the console admitted the request, so its sender is checked again.
  board.addHook('preHandler', async (request, reply) => {
    if ((await senderChecks.get(request.raw)?.()) === false)
      return sendError(reply, 401, 'Not signed in', 'Your session or your role has ended.');
  });
  // Adds the way back, and removes the link to a web font, which the content security policy blocks.
  board.addHook('onSend', async (_request, reply, payload) =>
    typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
      ? payload.replace(/<link href="https:[^>]*>/, '').replace('<div id="root">', `${WAY_BACK}$&`)
      : payload,
  );
  await board.register(serverAdapter.registerPlugin(), { prefix: BASE });
  await board.ready();
  return board;
};

/** Adds Bull Board to the console. */
export const addBullBoard = async (app: FastifyInstance, options: ConsoleOptions): Promise<void> => {
  const [full, readOnly] = await Promise.all([buildBoard(options, false), buildBoard(options, true)]);
  app.addHook('onClose', () => Promise.all([full.close(), readOnly.close()]));

  await app.register(async (scope) => {
    // The board reads the body.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const [method, right] of [
      [['GET', 'HEAD'], 'view'],
      [['POST', 'PUT', 'PATCH', 'DELETE'], 'manage_queues'],
    ] as const) {
      scope.route({
        method: [...method],
        url: `${BASE}/*`,
        config: { right },
        exposeHeadRoute: false,
        bodyLimit: BODY_MAX_BYTES,
        handler: async (request, reply) => {
          const { login, roles } = operatorOf(request);
          if (!boardQuery.safeParse(request.query).success) {
            const message = 'The address of this list of jobs is not valid.';
            return sendError(reply, 400, 'Not found', message);
          }
          if (changesState(request.method)) {
            const subject = `queue:${/^\/queues\/api\/queues\/([^/?]+)\//.exec(request.url)?.[1] ?? '*'}`;
            const details = { method: request.method, path: request.url.split('?')[0] };
            await recordAudit(options.sql, [
              { ...operatorActor(login), action: 'queue.action', subject, details },
            ]);
            senderChecks.set(request.raw, async () => {
              const now = await readSession(options.sql, readSessionCookie(request), 'console', false);
              return now !== undefined && hasRight(now.roles, right);
            });
          }
          const { 'strict-transport-security': httpsOnly } = reply.getHeaders();
          if (httpsOnly !== undefined) reply.raw.setHeader('strict-transport-security', httpsOnly);
          reply.hijack();
          (hasRight(roles, 'manage_queues') ? full : readOnly).routing(request.raw, reply.raw);
        },
      });
    }
  });
};
