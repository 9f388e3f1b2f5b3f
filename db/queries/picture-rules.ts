import type { Queryable } from '#db/client.ts';
import type { PicturePin } from '#db/queries/picture-pins.ts';
import { onlyRow, readColumn } from '#db/rows.ts';

/** How far the pins of an application are identified by its rule. */
export type RuleProgress = {
  application_id: string;
  volatile_parameters: string[];
  /** Decisions up to this one are done; null: all of them. */
  after: number | null;
};

/** Lists applications whose pins are not all identified. @param tag of the rule without the operator's names */
export const listStaleRules = (sql: Queryable, tag: string, limit: number): Promise<string[]> =>
  readColumn(sql<{ application_id: string }[]>`
    select a.application_id from applications a left join picture_rules r using (application_id)
    where r.tag is distinct from ${tag} or r.volatile_parameters <> a.volatile_parameters or r.after is not null
    order by a.application_id limit ${limit}`);

/**
 * Reads how far the pins of an application are identified by its rule, and locks this until the transaction ends, because
 * the trigger `game_revisions_waiting` sets it back when it adds pins.
 */
export const lockRule = async (tx: Queryable, application_id: string, tag: string): Promise<RuleProgress> => {
  await tx`
    insert into picture_rules (application_id, tag, volatile_parameters) values (${application_id}, '', '{}')
    on conflict do nothing`;
  return onlyRow(tx<RuleProgress[]>`
    select application_id, a.volatile_parameters,
           case when r.tag = ${tag} and r.volatile_parameters = a.volatile_parameters then r.after else 0 end as after
    from picture_rules r join applications a using (application_id)
    where application_id = ${application_id} for update of r`);
};

/** Records how far the pins of an application are identified by a rule. */
export const saveRule = async (
  tx: Queryable,
  { application_id, volatile_parameters, after }: RuleProgress,
  tag: string,
): Promise<void> => {
  await tx`
    update picture_rules set tag = ${tag}, volatile_parameters = ${volatile_parameters}::text[], after = ${after}
    where application_id = ${application_id}`;
};

/** Marks the pins of these pictures, and those of later decisions, to be identified again. */
export const identifyAgain = async (sql: Queryable, picture_ids: readonly string[]): Promise<void> => {
  await sql`
    update picture_rules r set after = least(r.after, s.after)
    from (
      select g.application_id, min(p.audit_id) - 1 as after
      from picture_pins p join game_audits a using (audit_id) join games g using (game_id)
      where p.picture_id = any(${picture_ids as string[]}::uuid[]) group by 1
    ) s
    where r.application_id = s.application_id`;
};

/**
 * Reads the pins of at most `limit` decisions on the present content of an application's games, after a given decision.
 * Decisions that are undone are left out. Earlier ones are read too, because one of them stands again when the last one is undone.
 * @returns the pins, and the last decision that was read; null if there was none
 */
export const listStandingPins = async (
  sql: Queryable,
  application_id: string,
  after: number,
  limit: number,
): Promise<{ pins: PicturePin[]; last: number | null }> => {
  // A decision on a game without pictures has no pin.
  const rows = await sql<(PicturePin & { picture_id: string | null; url: string | null })[]>`
    with decisions as materialized (
      select a.audit_id, g.game_icon, g.game_store_pic
      from games g join game_audits a using (game_id)
      where g.application_id = ${application_id} and a.audit_id > ${after} and a.revision = g.revision
        and a.undone_at is null
      order by a.audit_id limit ${limit}
    )
    select d.audit_id, p.is_icon, p.place, p.picture_id,
           (case when p.is_icon then d.game_icon else d.game_store_pic end)[p.place + 1] as url
    from decisions d left join picture_pins p using (audit_id) order by d.audit_id`;
  // A stolen console may pin a place that the game does not have.
  return {
    pins: rows.filter(({ picture_id, url }) => picture_id !== null && url !== null),
    last: rows.at(-1)?.audit_id ?? null,
  };
};

/**
 * Binds pins to other pictures. A new picture takes over what is known of the former one, unless it was requested itself,
 * and is due for a check.
 */
export const movePins = async (
  tx: Queryable,
  pins: readonly (PicturePin & { new_id: string })[],
): Promise<void> => {
  await tx`
    with moved as materialized (
      select * from json_to_recordset(${JSON.stringify(pins)}::text::json) as m(
        audit_id bigint, is_icon boolean, place smallint, picture_id uuid, new_id uuid, url text)
    ), pinned as (
      update picture_pins p set picture_id = m.new_id
      from moved m where p.audit_id = m.audit_id and p.is_icon = m.is_icon and p.place = m.place
    )
    insert into pictures as n (
      picture_id, url, sha256, outcome, http_status, note, etag, fetched_at, fresh_until, next_check_at)
    select distinct on (m.new_id) m.new_id, m.url, p.sha256, p.outcome, p.http_status, p.note, p.etag, p.fetched_at,
           p.fresh_until, now()
    from moved m join pictures p using (picture_id) order by m.new_id, p.fetched_at desc nulls last
    on conflict (picture_id) do update set next_check_at = excluded.next_check_at`;
};
