/** The pictures of a game as the platform has them, for its developer. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { GameRow } from '#db/queries/games.ts';
import {
  addressesOf,
  findPictures,
  type PictureSet,
  type PictureView,
  readThumbnail,
} from '#db/queries/pictures.ts';
import { findApplicationGame } from '#db/queries/timeline.ts';
import { endOf, type PictureOutcome, THUMBNAIL_WIDTHS, type ThumbnailWidth } from '#src/contract/pictures.ts';
import { identifier } from '#src/contract/text.ts';
import { firstLetter } from '#src/lib/printable.ts';
import type { PictureCount } from '#src/portal/answer.ts';
import { holderOf, SIGNED_IN } from '#src/portal/session.ts';
import { explainPicture } from '#src/rules/pictures.ts';
import { sendError } from '#src/site/answers.ts';
import { ago, badge, html, link, mono, number, type SafeHtml, section } from '#src/site/html.ts';
import type { ConsoleOptions } from '#src/site/options.ts';

const KIB = 1_024;
const [ICON_WIDTH, MARK_WIDTH] = THUMBNAIL_WIDTHS;
const SHOWN_WIDTH = 1024;

const query = z.object({
  id: identifier,
  n: z.coerce.number().int().min(0),
  w: z.coerce.number().pipe(z.literal(THUMBNAIL_WIDTHS)).catch(SHOWN_WIDTH),
});

/** A picture is named by its place in a game, so that no address of the portal reaches the pictures of others. */
const pictureUrl = (id: string, n: number, sha256: string, w?: ThumbnailWidth): string =>
  link('/portal/picture', { id, n, w, v: sha256.slice(0, 16) });

export type Iconed = Pick<GameRow, 'application_id' | 'application_game_id' | 'game_name'> & {
  game_icon?: readonly string[];
};

/** A game's icon, or its first letter while there is none. */
export const iconOf = (game: Iconed, icons: PictureSet, size: 'tiny' | 'large'): SafeHtml => {
  const { application_id, application_game_id: id, game_name, game_icon: [url = ''] = [] } = game;
  const icon = icons.get({ application_id, url });
  const shown =
    icon?.sha256 != null && icon.has_thumbnail
      ? html`<img src="${pictureUrl(id, 0, icon.sha256, size === 'tiny' ? ICON_WIDTH : MARK_WIDTH)}" alt="" loading="lazy">`
      : firstLetter(game_name);
  return html`<span class="picture ${size}" aria-hidden="true">${shown}</span>`;
};

/** An address that breaks after its slashes before it breaks in a word. */
export const breakable = (url: string): SafeHtml[] =>
  url.split(/(?<=[/?&=])/).map((part) => html`${part}<wbr>`);

const describeBytes = ({ width, height, bytes }: PictureView): SafeHtml =>
  html`<span>${width} × ${height}, ${number(Math.ceil((bytes ?? 0) / KIB))} KiB</span>`;

const addressLine = (url: string): SafeHtml => html`<span class="url" title="${url}">…/${endOf(url)}</span>`;

/** A picture in the answers of the application: `field` as failures name it, such as `game_store_pic.0`. */
type Place = { field: string; alt: string; url: string };

const shot = (
  id: string,
  n: number,
  { field, alt, url }: Place,
  picture: PictureView & { outcome: PictureOutcome },
): SafeHtml => {
  const { outcome, sha256, has_thumbnail } = picture;
  const isShown = sha256 !== null && has_thumbnail;
  const state = explainPicture(outcome, picture);
  const image = isShown ? html`<img src="${pictureUrl(id, n, sha256)}" alt="${alt}" loading="lazy">` : state;
  const failure =
    isShown && outcome !== 'shown' ? html`<span class="warn">last request: ${state}</span>` : null;
  return html`<figure class="shot"><div class="frame${isShown ? '' : ' warn'}">${image}</div><figcaption>
${mono(field)}${isShown ? describeBytes(picture) : null}
<span>${outcome === 'shown' ? 'fetched' : 'requested'} ${ago(picture.fetched_at)}</span>${failure}
${addressLine(url)}</figcaption></figure>`;
};

/** A picture that no reviewer has looked at. */
const awaitedShot = ({ field, url }: Place): SafeHtml =>
  html`<figure class="shot"><div class="frame">not fetched yet</div>
<figcaption>${mono(field)}${addressLine(url)}</figcaption></figure>`;

/** Shows the pictures as reviewers and readers see them, or why they see none. Nothing is fetched for this page. */
export const picturesSection = async (
  { sql }: Pick<ConsoleOptions, 'sql'>,
  game: GameRow,
): Promise<{ shown: SafeHtml; count: PictureCount } | null> => {
  const addresses = addressesOf(game);
  if (addresses.length === 0) return null;
  const pictures = await findPictures(sql, addresses);
  const icons = game.game_icon.length;
  const shots = addresses.map((address, n) => {
    const picture = pictures.get(address);
    const outcome = picture?.outcome ?? null;
    const { url } = address;
    const place =
      n < icons
        ? { url, field: `game_icon.${n}`, alt: `Icon ${n + 1} of ${icons}` }
        : {
            url,
            field: `game_store_pic.${n - icons}`,
            alt: `Picture ${n - icons + 1} of ${addresses.length - icons}`,
          };
    if (picture === undefined || outcome === null) return awaitedShot(place);
    return shot(game.application_game_id, n, place, { ...picture, outcome });
  });
  const broken = addresses.filter((address) => {
    const outcome = pictures.get(address)?.outcome ?? null;
    return outcome !== null && outcome !== 'shown';
  }).length;
  const shown = section(
    'Pictures as the platform has them',
    html`<div class="gallery">${shots}</div><div class="body"><p class="soft">The platform fetches pictures when a
reviewer is about to look, when it decides, and from time to time afterwards. A picture that cannot be fetched is not shown
to players.</p></div>`,
    {
      id: 'pictures',
      aside: broken === 0 ? undefined : badge(`${broken} of ${addresses.length} cannot be fetched`, 'warn'),
    },
  );
  return { shown, count: { broken, all: addresses.length } };
};

/** Adds `/portal/picture`. */
export const addPortalPictures = (portal: FastifyInstance, { sql }: ConsoleOptions): void => {
  portal.get('/portal/picture', SIGNED_IN, async (request, reply) => {
    const { application_id } = holderOf(request);
    const { data } = query.safeParse(request.query);
    const game = data && (await findApplicationGame(sql, application_id, data.id));
    const address = game && addressesOf(game)[data.n];
    const picture = address && (await findPictures(sql, [address])).get(address);
    const webp =
      picture?.sha256 != null && (await readThumbnail(sql, picture.sha256, data?.w ?? SHOWN_WIDTH));
    if (!webp) return sendError(reply, 404, 'No such picture', 'The platform has no picture at this place.');
    return reply
      .type('image/webp')
      .header('cache-control', 'private, max-age=3600')
      .header('content-security-policy', "default-src 'none'; sandbox")
      .send(webp);
  });
};
