/** What a page shows while the platform does what its developer requested, until the page reloads itself. */
import type { FastifyReply } from 'fastify';
import type { Database } from '#db/client.ts';
import type { ApplicationRow } from '#db/queries/applications.ts';
import type { GameRow } from '#db/queries/games.ts';
import { hasWaitingGames, WHOLE_LIST } from '#db/queries/refreshes.ts';
import type { RunRow } from '#db/queries/runs.ts';
import { banner, linkButton } from '#src/portal/answer.ts';
import { html, type SafeHtml } from '#src/site/html.ts';

/** How the platform reads an application now. */
export type Reading = {
  application: ApplicationRow | undefined;
  /** The last run, if the game is not stored. */
  run: RunRow | undefined;
  isPaused: boolean;
  /** The game, or the list that may have it, is pulled on request. */
  isPulling: boolean;
};

/** Is the list read on request? @param run the last one */
export const isListWaiting = async (
  sql: Database,
  application_id: string,
  run: RunRow | undefined,
): Promise<boolean> =>
  (run?.trigger === 'refresh' && run.finished_at === null) ||
  hasWaitingGames(sql, application_id, [WHOLE_LIST]);

/** Is a game pulled on request? Of one that is not stored, the list is read. @param run the last one */
export const isPullWaiting = (
  sql: Database,
  application_id: string,
  game: GameRow | null,
  run: RunRow | undefined,
): Promise<boolean> =>
  game === null
    ? isListWaiting(sql, application_id, run)
    : hasWaitingGames(sql, application_id, [game.application_game_id]);

const PULLING = ['Pulling the game', 'It takes some seconds, or longer if your server is slow.'] as const;
const READING = ['Reading your list', 'It takes a minute, or longer if your server is slow.'] as const;

/** Says that the request waits. The page polls `here`, and reloads at the end. Without scripts, it has a button. */
export const waitingBanner = (what: 'game' | 'list', here: string): SafeHtml => {
  const [title, said] = what === 'game' ? PULLING : READING;
  const poll = html`<p hx-get="${here}" hx-trigger="every 3s" hx-swap="none" data-reloads>${said}</p>`;
  return banner(title, poll, 'info', html`<noscript>${linkButton({ url: here, act: 'Reload' })}</noscript>`);
};

/** Answers a page that polls: nothing while it waits, then a reload, which updates all of it. */
export const answerPoll = (reply: FastifyReply, isWaiting: boolean): FastifyReply =>
  isWaiting ? reply.code(204).send() : reply.header('hx-refresh', 'true').send();
