/** `/tokens`: who may call the API, and the end of it. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { linkTo } from '#src/console/links.ts';
import { tokenList } from '#src/lists/tokens.ts';
import { revokeApiToken } from '#src/operations/tokens.ts';
import { redirectAfter, sendPage } from '#src/site/answers.ts';
import { action, copyable, html, type SafeHtml } from '#src/site/html.ts';
import { showList } from '#src/site/list.ts';
import { operateFor } from '#src/site/operate.ts';
import type { ConsoleOptions } from '#src/site/options.ts';
import { sourcesOf } from '#src/site/sources.ts';

const PAGE = 100;
const HERE = '/tokens';

/** The name of a token, and its id for the command line. */
const nameCell = ({ name, token_id }: { name: string; token_id: string }): SafeHtml =>
  html`<span dir="auto">${name}</span><br><small>${copyable(token_id)}</small>`;

/** Adds `/tokens`. */
export const addTokens = (app: FastifyInstance, options: ConsoleOptions): void => {
  app.get(HERE, { config: { right: tokenList.right } }, async (request, reply) => {
    const view = { path: HERE, query: request.query, limit: PAGE };
    const { filters, body } = await showList(sourcesOf(options), tokenList, view);
    const revoke = ({
      token_id,
      revoked_at,
      name,
    }: {
      token_id: string;
      revoked_at: Date | null;
      name: string;
    }) =>
      revoked_at === null
        ? action(HERE, html`Revoke<span class="hidden"> ${name}</span>`, {
            fields: { token_id },
            kind: 'quiet danger',
          })
        : null;
    return sendPage(reply, {
      title: 'API tokens',
      at: HERE,
      body: html`${filters}${body({
        linkTo,
        only: ['owner', 'state', 'name', 'ends', 'last_used'],
        cells: { name: nameCell },
        more: [{ head: 'End', cell: revoke }],
        stacked: true,
      })}`,
      lead: html`A token is shown once, where it is made: <code>npx catalogue token create --help</code>`,
    });
  });

  app.post(HERE, { config: { right: 'manage_applications' } }, (request, reply) =>
    redirectAfter(reply, HERE, async () => {
      const { token_id } = z.object({ token_id: z.string() }).parse(request.body);
      await operateFor(request, options, revokeApiToken, { token_id });
      return 'The token is revoked: calls and sessions with it end now.';
    }),
  );
};
