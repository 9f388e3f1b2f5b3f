import type { Reason } from '#src/contract/text.ts';

/** `game_icon.3: not_http_url, too_long` */
export const formatReasons = (reasons: readonly Reason[]): string =>
  reasons.map(({ path, code }) => (path === '' ? code : `${path}: ${code}`)).join(', ');
