/** How pages show pictures: our thumbnails, or the reason why there is none. A page never links to an application's picture. */
import type { ContentView, PictureSet, PictureView } from '#db/queries/pictures.ts';
import { seenField } from '#src/console/pages/seen-pictures.ts';
import { describePicture, endOf, type ThumbnailWidth } from '#src/contract/pictures.ts';
import { firstLetter } from '#src/lib/printable.ts';
import { explainPicture } from '#src/rules/pictures.ts';
import { badge, html, number, type SafeHtml } from '#src/site/html.ts';

/** The address of a thumbnail of these bytes: at most `width` wide. */
const thumbnailUrl = (sha256: string, width: ThumbnailWidth): string => `/pictures/${sha256}?w=${width}`;

export const ICON_SIZES = ['tiny', 'small', 'large'] as const;
export type IconSize = (typeof ICON_SIZES)[number];
const ICON_WIDTHS = { tiny: 64, small: 64, large: 256 } as const satisfies Record<IconSize, number>;

/**
 * A game's icon, or its first letter while there is none.
 * @param isLate takes the place of the letter on a page that was sent before, and is sent with its form
 */
export const iconPlace = (
  {
    game_id,
    application_id,
    game_name,
    game_icon: [url = ''],
  }: { game_id: string; application_id: string; game_name: string; game_icon: readonly string[] },
  pictures: PictureSet,
  size: IconSize = 'small',
  isLate = false,
): SafeHtml => {
  const icon = pictures.get({ application_id, url });
  const shown =
    icon?.sha256 != null && icon.has_thumbnail
      ? html`<img src="${thumbnailUrl(icon.sha256, ICON_WIDTHS[size])}" alt="" loading="lazy" decoding="async">`
      : firstLetter(game_name);
  const swap = isLate ? html` hx-swap-oob="true"` : null;
  return html`<span class="picture ${size}" id="icon-${game_id}"${swap} aria-hidden="true">${shown}${
    isLate ? seenField(game_id, [icon]) : null
  }</span>`;
};

const KIB = 1_024;
const formatBytes = (bytes: number): string =>
  bytes < KIB * KIB ? `${number(Math.ceil(bytes / KIB))} KiB` : `${(bytes / KIB / KIB).toFixed(1)} MiB`;

const describeContent = ({
  width,
  height,
  format,
  bytes,
  frames,
}: Omit<ContentView, 'outcome' | 'sha256' | 'has_thumbnail' | 'whole'>) =>
  [
    width === null || height === null ? '' : `${width} × ${height}`,
    format === null ? '' : format.toUpperCase(),
    bytes === null ? '' : formatBytes(bytes),
    frames !== null && frames > 1 ? `one of ${number(frames)} frames` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');

/** There was no request for this picture, or the first one runs. */
export const isWaiting = (picture: PictureView | undefined): boolean => picture?.outcome == null;

/** The most CSS pixels that a picture is wide on a page, of 256 or 512. */
type ShownWidth = 256 | 512;

/**
 * What an image loads. A browser decodes half the width in a quarter of the time, and a key waits for it: 98 ms in place of
 * 131 (docs/performance.md). A picture that is smaller is not enlarged.
 */
const sources = (sha256: string, width: number | null, shownWidth: ShownWidth | undefined): SafeHtml => {
  if (shownWidth === undefined || width === null || width < 2 * shownWidth)
    return html`src="${thumbnailUrl(sha256, 1024)}"`;
  const doubled = thumbnailUrl(sha256, shownWidth === 256 ? 512 : 1024);
  return html`src="${thumbnailUrl(sha256, shownWidth)}" srcset="${doubled} 2x"`;
};

/** The `digit` of the keyboard opens it in the viewer (elements/picture-viewer.ts), with the `caption` below it. */
type FrameOptions = {
  alt: string;
  caption: string;
  digit?: number | undefined;
  shownWidth?: ShownWidth | undefined;
};

const frame = (
  { sha256, width }: { sha256: string; width: number | null },
  { alt, caption, digit, shownWidth }: FrameOptions,
): SafeHtml => {
  const key = digit === undefined ? null : html` data-picture="${digit}" aria-keyshortcuts="${digit}"`;
  return html`<a class="frame" href="${thumbnailUrl(sha256, 1024)}" data-caption="${caption}"${key}>
<img ${sources(sha256, width, shownWidth)} alt="${alt}" decoding="async"></a>`;
};

/** Its last request failed. */
const isMissing = (outcome: PictureView['outcome']): boolean => outcome !== null && outcome !== 'shown';

/** A text in place of a picture. @param warns whether the application has to mend it */
const blank = (text: string, warns = false): SafeHtml =>
  html`<div class="frame${warns ? ' warn' : ''}">${text}</div>`;

/** In place of the pictures of a game that has none. */
export const NO_PICTURE = blank('no pictures');

/** A small picture that opens in the viewer. */
export const smallPicture = (picture: PictureView | undefined, alt: string): SafeHtml => {
  const { outcome = null, sha256 = null } = picture ?? {};
  const text = outcome === null || picture === undefined ? 'being fetched' : explainPicture(outcome, picture);
  return sha256 !== null && picture?.has_thumbnail === true
    ? html`<a class="frame" href="${thumbnailUrl(sha256, 1024)}" data-caption="${alt}">
<img src="${thumbnailUrl(sha256, 256)}" alt="${alt}" loading="lazy" decoding="async"></a>`
    : blank(text, isMissing(outcome));
};

/** Where the pictures of a page open, large. */
export const PICTURE_VIEWER = html`<picture-viewer><dialog class="viewer" aria-label="Picture">
<div class="stage" tabindex="0" aria-label="Picture" autofocus></div><div class="viewer-bar">
<button class="button" data-step="-1">Previous <kbd aria-hidden="true">←</kbd></button>
<button class="button" data-step="1">Next <kbd aria-hidden="true">→</kbd></button>
<form method="dialog"><button class="button">Close <kbd aria-hidden="true">Esc</kbd></button></form></div>
</dialog></picture-viewer>`;

const CHANGE_TONES: Partial<Record<string, string>> = { added: 'good', removed: 'bad', changed: 'info' };

type PlaceOptions = {
  alt: string;
  digit?: number | undefined;
  /** How it differs from the compared revision; "" if none is compared. */
  change?: string;
  /** Nothing fetches it now. */
  isLate?: boolean;
  /** Undefined for a picture alone, which may be wider. */
  shownWidth?: ShownWidth | undefined;
};

/** One picture with the end of its address; the whole one is its title, and in the viewer. */
export const picturePlace = (
  url: string,
  picture: PictureView | undefined,
  { alt, digit, change = '', isLate = false, shownWidth }: PlaceOptions,
): SafeHtml => {
  const { outcome = null, sha256 = null, note = null, width = null } = picture ?? {};
  const isShown = sha256 !== null && picture?.has_thumbnail === true;
  const isRemoved = change === 'removed';
  const awaited = isLate ? 'not fetched yet' : 'being fetched';
  const missing = isRemoved ? 'not stored' : awaited;
  const reason = outcome === null || picture === undefined ? missing : explainPicture(outcome, picture);
  // The last bytes stay visible when a later request fails.
  const failure = isShown && outcome !== 'shown' && outcome !== null ? `last request: ${reason}` : null;
  const warn = (text: string | null) => (text === null ? null : html`<span class="warn">${text}</span>`);
  const tone = CHANGE_TONES[change];
  const shown = isShown
    ? frame({ sha256, width }, { alt, digit, shownWidth, caption: `${alt} · ${url}` })
    : blank(reason, isMissing(outcome) && !isRemoved);
  const key = isShown && digit !== undefined ? html`<kbd aria-hidden="true">${digit}</kbd>` : null;
  return html`<figure class="shot ${change}">${shown}<figcaption>
${key}${tone === undefined ? null : badge(change, tone)}
${picture?.bytes == null ? null : html`<span>${describeContent(picture)}</span>`}
<span class="end" title="${url}">${endOf(url)}</span>${warn(note)}${warn(failure)}</figcaption></figure>`;
};

/** The bytes that a decision named, beside the present ones. */
export const changedPicture = (
  url: string,
  before: ContentView | undefined,
  picture: PictureView,
  { alt, shownWidth }: { alt: string; shownWidth: ShownWidth },
): SafeHtml => {
  const former =
    before?.has_thumbnail === true
      ? frame(before, { alt: `${alt}, as decided`, caption: `${alt}, as decided · ${url}`, shownWidth })
      : blank(before === undefined ? 'no picture' : describePicture(before.outcome, null));
  const now = picturePlace(url, picture, { alt: `${alt}, as it is now`, change: 'changed', shownWidth });
  return html`<div class="pair"><figure class="shot former">${former}<figcaption>${badge('as decided')}${
    before === undefined ? null : html`<span>${describeContent(before)}</span>`
  }</figcaption></figure>${now}</div>`;
};
