import type { Queryable } from '#db/client.ts';
import { onlyValue } from '#db/rows.ts';
import { THUMBNAIL_WIDTHS } from '#src/contract/pictures.ts';

/**
 * Deletes thumbnails that were not shown for `keepMs`: of a picture that no decision names and the store does not have,
 * all of them with the facts about its bytes; of the others all but the smallest.
 * @returns contents that lost thumbnails; fewer than `limit`: these were the last
 */
export const pruneThumbnails = (sql: Queryable, keepMs: number, limit: number) =>
  onlyValue(sql<{ pruned: number }[]>`
    with old as materialized (
      select sha256, pinned or stored is not null as kept from picture_contents
      where (whole or (not pinned and stored is null)) and looked_at < now() - ${keepMs} * interval '1 millisecond'
      order by looked_at limit ${limit} for update skip locked
    ), thumbnails as (
      delete from picture_thumbnails t using old
      where t.sha256 = old.sha256 and (not old.kept or t.width > ${THUMBNAIL_WIDTHS[0]})
    ), shrunk as (
      update picture_contents c set whole = false from old where c.sha256 = old.sha256 and old.kept
    ), deleted as (
      delete from picture_contents c using old where c.sha256 = old.sha256 and not old.kept
    )
    select count(*)::int as pruned from old`);
