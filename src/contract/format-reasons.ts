import type { Reason } from '#src/contract/text.ts';

/** `game_icon.3`, or `list.3.game_id (page 2)` */
export const formatPlace = ({ path, page }: Pick<Reason, 'path' | 'page'>): string =>
  page === undefined ? path : `${path} (page ${page})`;

/** `game_icon.3: not_http_url, too_long` */
export const formatReasons = (reasons: readonly Reason[]): string =>
  reasons
    .map((reason) => (reason.path === '' ? reason.code : `${formatPlace(reason)}: ${reason.code}`))
    .join(', ');
