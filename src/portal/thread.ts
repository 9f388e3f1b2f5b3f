/** The thread of a game in the portal: what reviewers wrote, the developer's answers, and an appeal. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type AppealRow, findLastAppeal, mayAppeal } from '#db/queries/appeals.ts';
import type { GameRow } from '#db/queries/games.ts';
import { findUnanswered } from '#db/queries/threads.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { PROSE_MAX } from '#src/contract/text.ts';
import { readFirst, type Sources } from '#src/lists/read.ts';
import { threadList } from '#src/lists/threads.ts';
import { appealRejection } from '#src/operations/appeals.ts';
import { operate } from '#src/operations/operate.ts';
import { messageGame } from '#src/operations/threads.ts';
import { banner, linkButton } from '#src/portal/answer.ts';
import { appealBadge, messageBadge } from '#src/portal/game-badges.ts';
import { gameUrl, threadUrl } from '#src/portal/links.ts';
import { MESSAGE_TITLE } from '#src/portal/problems.ts';
import { callerOfHolder, holderOf } from '#src/portal/session.ts';
import { redirectAfter, redirectWith } from '#src/site/answers.ts';
import { formMaxBytes } from '#src/site/form-size.ts';
import { hiddenFields, html, NO_DEFAULT, type SafeHtml, section } from '#src/site/html.ts';
import { platformOf } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { textArea, threadEntries } from '#src/site/thread.ts';

/** More than a thread has. */
const ENTRIES_MAX = 1_000;

const ONCE = html`<p class="soft">A message does not return the game to review: changed content does, or your one appeal, which another
reviewer decides. To show a document, give its link.</p>`;

const UPHELD = html`<p class="soft">Change the game, and it is reviewed again. A rejection that was appealed is not
appealed again.</p>`;

/** The text and its buttons. A rejected game can be appealed. */
const writeForm = (game: GameRow, appeal: AppealRow | undefined, isAppealable: boolean): SafeHtml => {
  const isUpheld = game.audit_status === 'rejected' && appeal?.outcome === 'upheld';
  const note = isUpheld ? UPHELD : null;
  const button = (act: string, label: string, kind = ''): SafeHtml =>
    html`<button class="button ${kind}" name="act" value="${act}">${label}</button>`;
  const buttons = isAppealable
    ? html`${button('message', 'Send as a message')}<details>
<summary class="button">Appeal…</summary><div class="form"><p>This is your one appeal of this decision.</p>
${button('appeal', 'Appeal the rejection')}</div></details>`
    : html`${button('message', 'Send', 'primary')}`;
  return html`<form method="post" action="/portal/game/thread" class="form">${NO_DEFAULT}
${hiddenFields({ id: game.application_game_id })}${textArea('text', 'Write to the reviewers', 'write')}
${isAppealable ? ONCE : note}<div class="acts">${buttons}</div></form>`;
};

type Thread = {
  shown: SafeHtml;
  isAppealable: boolean;
  /** A reviewer's message that waits for an answer. */
  unanswered: string | null;
  /** The appeal that is open, or that was refused while the rejection stands. */
  appeal: AppealRow | undefined;
};

/** What of a thread stands beside the name of its game. */
export const threadBadges = ({ appeal, unanswered }: Thread): SafeHtml =>
  html`${appealBadge(appeal ? (appeal.outcome ?? 'open') : null)}${messageBadge(unanswered !== null)}`;

/** Says at the head of a game that a reviewer waits for an answer. @param leads is its button the next step? */
export const messageBanner = ({ unanswered }: Thread, leads: boolean): SafeHtml | null =>
  unanswered === null
    ? null
    : banner(
        MESSAGE_TITLE,
        html`<blockquote dir="auto">${unanswered}</blockquote>`,
        'warn',
        linkButton({ url: '#write', act: 'Answer' }, leads ? ' primary' : ''),
      );

/** Shows what reviewers and the developer wrote about a game. */
export const portalThread = async (sources: Sources, game: GameRow): Promise<Thread> => {
  const { sql } = sources;
  const { game_id } = game;
  const [entries, appeal, mayBeAppealed, unanswered] = await Promise.all([
    readFirst(threadList, sources, { game_id, is_public: true }, ENTRIES_MAX),
    findLastAppeal(sql, game_id),
    mayAppeal(sql, game_id),
    findUnanswered(sql, [game]),
  ]);
  const shown = threadEntries(entries, ({ kind }) =>
    kind === 'answer' || kind === 'appeal' ? 'You' : 'The platform',
  );
  const isListed = game.withdrawn_at === null;
  const isAppealable = mayBeAppealed && isListed;
  const isRefused = isListed && game.audit_status === 'rejected' && !mayBeAppealed;
  const write = isListed
    ? writeForm(game, appeal, isAppealable)
    : html`<p class="body soft">The game is withdrawn: list it again to write about it.</p>`;
  return {
    shown: section('Messages', html`${shown}${write}`, { id: 'messages' }),
    isAppealable,
    unanswered: unanswered.has(game_id)
      ? (entries.findLast(({ kind }) => kind === 'message')?.text ?? null)
      : null,
    appeal: appeal?.outcome === null || isRefused ? appeal : undefined,
  };
};

const form = z.object({ id: z.string(), act: z.enum(['message', 'appeal']), text: z.string() });

/** Adds the route that writes to the reviewers of a game, and appeals. */
export const addPortalThread = (portal: FastifyInstance, options: ConsoleOptions): void => {
  const signedIn = { config: { right: 'application' }, bodyLimit: formMaxBytes(PROSE_MAX) } as const;
  portal.post('/portal/game/thread', signedIn, async (request, reply) => {
    const { id, act, text } = form.parse(request.body);
    const { application_id } = holderOf(request);
    const game = await findApplicationGame(options.sql, application_id, id);
    if (game === undefined) return redirectWith(reply, gameUrl(id), 'The game is not stored.', 'bad');
    if (text.trim() === '') return redirectWith(reply, threadUrl(id), 'Write a message first.', 'bad');
    return redirectAfter(reply, threadUrl(id), async () => {
      const given = { game_id: game.game_id, text };
      const [caller, platform] = [callerOfHolder(request), platformOf(options)];
      if (act === 'message') await operate(messageGame, given, caller, platform);
      else await operate(appealRejection, given, caller, platform);
      return act === 'message' ? 'Sent to the reviewers.' : 'The appeal waits for another reviewer.';
    });
  });
};
