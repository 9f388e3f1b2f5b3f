/** What a reviewer does on the page of one game. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { leadOn } from '#src/console/next-game.ts';
import { seenPicturesField } from '#src/console/pages/seen-pictures.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import type { GameDecision } from '#src/operations/decision-results.ts';
import { passGames, rejectGames } from '#src/operations/decisions.ts';
import { setPackageUrls } from '#src/operations/package-urls.ts';
import { OBSTACLES } from '#src/rules/judge-decision.ts';
import {
  isInBackground,
  operatorOf,
  redirectAfter,
  redirectOnRefusal,
  redirectWith,
} from '#src/site/answers.ts';
import { link, nameInText } from '#src/site/html.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { type ById, cursorText, laneFilters, revisionNumber, toId } from '#src/site/query.ts';

/** Most bytes of a decision with its texts, 4,000 characters each, and the filters of the lane, percent-encoded. */
const FORM_MAX_BYTES = 144 * 1024;

const GAME_NOT_FOUND = 'There is no game with this id.';

const decision = laneFilters.extend({
  act: z.enum(['pass', 'reject']),
  revision: revisionNumber,
  seen_status: z.enum(AUDIT_STATUSES),
  seen_pictures: seenPicturesField,
  cursor: cursorText.optional(),
  reason: z.string().default(''),
  text: z.string().default(''),
  note: z.string().default(''),
});

/** Explains why nothing was decided; undefined if the game has the decision. */
const explainUndecided = ({ result, revision, game }: GameDecision): string | undefined => {
  if (result === 'picture_moved')
    return 'a picture changed behind its address meanwhile. This page shows it as it is now.';
  if (result === 'content_moved')
    return `the content moved from revision ${revision} to ${game?.revision} meanwhile. This page shows what moved.`;
  if (result === 'fetching')
    return 'a picture is still being fetched, or stored. The game can be passed when it is there.';
  if (result === 'held' || result === 'needs_verdict') return `${OBSTACLES[result]}.`;
  if (result === 'appealed') return 'its developer has appealed the rejection. Another reviewer decides.';
  if (result === 'decided_before')
    return `${game?.last?.decided_by ?? 'another operator'} decided meanwhile.`;
  return result === 'withdrawn'
    ? 'the game is withdrawn. Its application no longer lists it, or was removed.'
    : undefined;
};

type Params = ById<'game_id'>;

/** Adds the acts of `/games/:game_id`: a decision, and the package URL. */
export const addGameActs = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.post<Params>(
    '/games/:game_id',
    { config: { right: 'decide' }, bodyLimit: FORM_MAX_BYTES },
    async (request, reply) => {
      const game_id = toId(request.params.game_id);
      const form = decision.parse(request.body);
      const { act, lane, application, q, cursor, seen_status, seen_pictures, reason, text, note } = form;
      const filters = { lane, application, q };
      const { login } = operatorOf(request);
      if (game_id === undefined) return redirectWith(reply, link('/review', filters), GAME_NOT_FOUND, 'bad');
      const here = link(`/games/${game_id}`, filters);
      const seen = { games: [{ game_id, revision: form.revision, seen_pictures }], seen_status, note };
      return redirectOnRefusal(reply, here, async () => {
        const { games } =
          act === 'pass'
            ? await operateFor(request, options, passGames, seen)
            : await operateFor(request, options, rejectGames, { ...seen, reason, text });
        const [decided] = games;
        if (decided === undefined || decided.result === 'unknown')
          return redirectWith(reply, link('/review', filters), GAME_NOT_FOUND, 'bad');
        // A page that fetched the next game ahead shows it already.
        const following =
          lane === undefined || cursor === undefined || isInBackground(request)
            ? undefined
            : await leadOn(options, login, { filters: { ...filters, lane }, after: cursor, back: game_id });
        const url = following?.url ?? (lane === undefined ? here : link('/review', filters));
        const name = nameInText(decided.game?.game_name ?? game_id);
        const why = explainUndecided(decided);
        if (
          decided.result === 'decided_before' &&
          (following?.game_id !== undefined || isInBackground(request))
        )
          return redirectWith(reply, url, `${name}: ${why} This is the next game.`, 'info');
        if (why !== undefined) {
          const from = decided.result === 'content_moved' ? { from: form.revision } : { after: cursor };
          const stay = link(`/games/${game_id}`, { ...filters, ...from });
          return redirectWith(reply, stay, `Nothing was decided: ${why}`, 'bad');
        }
        return redirectWith(reply, url, `${name}: ${decided.game?.audit_status}.`, 'undo');
      });
    },
  );

  app.post<Params>(
    '/games/:game_id/package',
    { config: { right: 'decide' }, bodyLimit: 16 * 1024 },
    async (request, reply) => {
      const game_id = toId(request.params.game_id);
      if (game_id === undefined) return redirectWith(reply, '/games', GAME_NOT_FOUND, 'bad');
      const { url } = z.object({ url: z.string().trim() }).parse(request.body);
      const here = `/games/${game_id}`;
      return redirectAfter(reply, here, async () => {
        await operateFor(request, options, setPackageUrls, { urls: [{ game_id, game_package_url: url }] });
        return `The package URL is ${url === '' ? 'cleared' : 'set'}.`;
      });
    },
  );
};
