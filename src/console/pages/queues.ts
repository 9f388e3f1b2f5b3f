/** `/queues`: which queues run, what waits in them, and who works. Bull Board, behind it, shows single jobs. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import pTimeout from 'p-timeout';
import { z } from 'zod';
import { linkTo } from '#src/console/links.ts';
import { hasRight } from '#src/contract/roles.ts';
import { explainThrown } from '#src/errors.ts';
import { jobSpecs, mediaSpecs, workerSpecs } from '#src/ingest/specs.ts';
import { explainOtherQueue, type QueueItem, queueList, workerList } from '#src/lists/queues.ts';
import { readFirst, type Sources } from '#src/lists/read.ts';
import { pauseQueues, resumeQueues, retryFailedJobs } from '#src/operations/queues.ts';
import { operatorOf, redirectAfter, sendPage } from '#src/site/answers.ts';
import { action, badge, html, number, type SafeHtml, section } from '#src/site/html.ts';
import { listTable } from '#src/site/list-table.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const HERE = '/queues';
const QUEUES_MAX = 100;
const WORKERS_MAX = 200;
const WAIT_MS = 2_000;

const LATE = `they did not answer within ${WAIT_MS / 1_000} s.`;

/** The state of each queue, or why it cannot be read. */
export const readQueues = (sources: Sources): Promise<QueueItem[] | string> =>
  pTimeout(readFirst(queueList, sources, {}, QUEUES_MAX), {
    milliseconds: WAIT_MS,
    fallback: () => LATE,
  }).catch(explainThrown);

const act = (name: string, label: string, queue: string): SafeHtml =>
  action(HERE, html`${label}<span class="hidden"> ${queue}</span>`, {
    fields: { act: name, queue },
    kind: 'quiet',
  });

const actsOf = ({ name, paused, failed }: QueueItem): SafeHtml =>
  html`<div class="actions">${paused ? act('resume', 'Resume', name) : act('pause', 'Pause', name)}
${failed > 0 ? act('retry', `Retry ${number(failed)}`, name) : null}</div>`;

const toBoard = ({ name }: QueueItem): SafeHtml => html`<a href="/queues/queue/${name}">${name}</a>`;

const NONE_RUNS = html`No worker runs, so the jobs of ${workerSpecs.length} of ${jobSpecs.length} queues wait.
Start one: <code>npx catalogue worker</code>.`;

/** The notice of a page while no worker runs. */
export const NO_WORKER = html`<p class="notice bad">${NONE_RUNS}</p>`;

const NO_WORKER_HERE = html`<p class="notice bad">${NONE_RUNS}<br>
<small>If a worker should run, request its /readyz. If that does not answer, end the worker with kill -9 and start it again.</small></p>`;

/**
 * One sentence, unless a queue is paused or has failed jobs; those are then listed. Nothing more while the notice says that
 * no worker runs.
 */
export const queueSummary = (queues: readonly QueueItem[] | string, workers: number): SafeHtml | null => {
  const running =
    workers === 0
      ? null
      : html`<span class="soft">${number(workers)} ${workers === 1 ? 'worker' : 'workers'} ·</span> `;
  const aside = html`<span>${running}<a href="/queues">All queues</a></span>`;
  const said = (sentence: string): SafeHtml =>
    section('Queues', html`<p class="body soft">${sentence}</p>`, { aside });
  if (typeof queues === 'string') return said(`The queues cannot be read: ${queues}`);
  const troubled = queues.filter(({ paused, failed }) => paused || failed > 0);
  if (troubled.length > 0)
    return section('Queues', listTable(queueList, troubled, { linkTo, cells: { queue: toBoard } }), {
      aside,
    });
  if (workers === 0) return null;
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting + queue.prioritized, 0);
  const wait = waiting === 1 ? '1 job waits.' : `${number(waiting)} jobs wait.`;
  return said(`${queues.length} queues: none paused, none has a failed job. ${wait}`);
};

/** The media process takes their jobs. It has no heartbeat, so nothing is known of it here. */
const OF_MEDIA = new Set<string>(mediaSpecs.map(({ name }) => name));

const stateWithoutWorker = ({ name, paused }: QueueItem): SafeHtml | null => {
  if (paused) return badge('paused');
  return OF_MEDIA.has(name) ? null : badge('no worker', 'bad');
};

type Shown = { hasWorker: boolean; mayManage: boolean };

const queueSection = (queues: readonly QueueItem[] | string, { hasWorker, mayManage }: Shown): SafeHtml => {
  if (typeof queues === 'string') {
    const sentence = `The queues cannot be read: ${queues} Workers go on when they can read them.`;
    return section('Jobs by queue', html`<div class="empty"><p>${sentence}</p></div>`);
  }
  const more = mayManage ? [{ head: 'Change', cell: actsOf }] : [];
  const cells = { queue: toBoard, ...(!hasWorker && { state: stateWithoutWorker }) };
  return section('Jobs by queue', listTable(queueList, queues, { linkTo, cells, more, stacked: 'lines' }));
};

const form = z.object({ act: z.enum(['pause', 'resume', 'retry']), queue: z.string() });

/** Adds `/queues`. */
export const addQueuePage = (app: FastifyInstance, options: ConsoleOptions): void => {
  const sources = sourcesOf(options);
  app.get(HERE, { config: { right: queueList.right } }, async (request, reply): Promise<FastifyReply> => {
    const [queues, workers] = await Promise.all([
      readQueues(sources),
      readFirst(workerList, sources, {}, WORKERS_MAX),
    ]);
    const problem = typeof queues === 'string' ? undefined : await explainOtherQueue(options.sql, queues);
    const warning = problem === undefined ? null : html`<p class="notice warn">${problem}</p>`;
    const mayManage = hasRight(operatorOf(request).roles, 'manage_queues');
    const hasWorker = workers.length > 0;
    const working = hasWorker
      ? section('Workers', listTable(workerList, workers, { linkTo, label: 'Workers' }))
      : NO_WORKER_HERE;
    return sendPage(reply, {
      title: 'Queues',
      at: HERE,
      body: html`<div id="queues" hx-get="${HERE}" hx-trigger="every 10s" hx-select="#queues" hx-target="#queues"
 hx-swap="outerHTML">${warning}${working}${queueSection(queues, { hasWorker, mayManage })}</div>`,
      lead: 'Postgres has every accepted request. If a queue is lost, its jobs are added again.',
      actions: html`<a class="button" href="/queues/">Bull Board</a>`,
    });
  });

  app.post(HERE, { config: { right: 'manage_queues' } }, (request, reply) =>
    redirectAfter(reply, HERE, async () => {
      const { act: name, queue } = form.parse(request.body);
      if (name === 'retry') {
        const { retried } = await operateFor(request, options, retryFailedJobs, { name: queue });
        return `Jobs of ${queue} that are retried: ${retried[queue] ?? 0}.`;
      }
      const operation = name === 'pause' ? pauseQueues : resumeQueues;
      await operateFor(request, options, operation, { name: queue });
      return name === 'pause' ? `${queue} is paused: it starts no new job.` : `${queue} runs again.`;
    }),
  );
};
