/**
 * Pins name pictures by the identities of their addresses. When the rule of identities changes (`app update
 * --volatile-parameter`, or a release that knows another signer), the pins of decisions that stand are identified again, so
 * that their bytes are watched as before.
 */
import type { Database } from '#db/client.ts';
import {
  listStaleRules,
  listStandingPins,
  movePins,
  type StaleRule,
  saveRule,
} from '#db/queries/picture-rules.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { pictureId } from '#src/rules/pictures.ts';

/** Applications of one pass. */
const APPLICATIONS_MAX = 200;
/** Decisions of one transaction. */
const BATCH = 1_000;

const { tag } = identityRule([]);

/** Identifies the pins of one application. @returns how many have another picture now */
const identifyOne = async (sql: Database, stale: StaleRule, signal: AbortSignal): Promise<number> => {
  const { application_id } = stale;
  const rule = identityRule(stale.volatile_parameters);
  let moved = 0;
  for (let after = stale.after ?? 0; !signal.aborted; ) {
    const { pins, last } = await listStandingPins(sql, application_id, after, BATCH);
    const others = pins.flatMap((pin) => {
      const new_id = pictureId(application_id, pin.url, rule);
      return new_id === pin.picture_id ? [] : [{ ...pin, new_id }];
    });
    await sql.begin(async (tx) => {
      if (others.length > 0) await movePins(tx, others);
      await saveRule(tx, { ...stale, after: last }, tag);
    });
    moved += others.length;
    if (last === null) break;
    after = last;
  }
  return moved;
};

/** @returns how many pins have another picture now */
export const identifyPins = async (sql: Database, signal: AbortSignal): Promise<number> => {
  let moved = 0;
  for (const stale of await listStaleRules(sql, tag, APPLICATIONS_MAX))
    moved += await identifyOne(sql, stale, signal);
  return moved;
};
