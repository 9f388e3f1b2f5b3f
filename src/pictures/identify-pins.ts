/**
 * Pins name pictures by the identities of their addresses. When the rule of identities changes (`app update
 * --volatile-parameter`, or a release that knows another signer), the pins of decisions that stand are identified again, so
 * that their bytes are watched as before.
 */
import type { Database } from '#db/client.ts';
import type { DuePicture } from '#db/queries/picture-pins.ts';
import {
  identifyAgain,
  listStaleRules,
  listStandingPins,
  lockRule,
  movePins,
  saveRule,
} from '#db/queries/picture-rules.ts';
import { readPictureIds } from '#db/queries/pictures.ts';
import { identityRule } from '#src/rules/address-identity.ts';
import { pictureId } from '#src/rules/pictures.ts';

/** Applications of one pass. */
const APPLICATIONS_MAX = 200;
/** Decisions of one transaction. */
const BATCH = 1_000;

const { tag } = identityRule([]);

/**
 * Identifies the pins of the next decisions of an application.
 * @returns how many have another picture now; undefined if no decision is left
 */
const identifySome = (sql: Database, application_id: string): Promise<number | undefined> =>
  sql.begin(async (tx) => {
    const progress = await lockRule(tx, application_id, tag);
    if (progress.after === null) return undefined;
    const rule = identityRule(progress.volatile_parameters);
    const { pins, last } = await listStandingPins(tx, application_id, progress.after, BATCH);
    const others = pins.flatMap((pin) => {
      const new_id = pictureId(application_id, pin.url, rule);
      return new_id === pin.picture_id ? [] : [{ ...pin, new_id }];
    });
    if (others.length > 0) await movePins(tx, others);
    await saveRule(tx, { ...progress, after: last }, tag);
    return last === null ? undefined : others.length;
  });

/** @returns how many pins have another picture now */
export const identifyPins = async (sql: Database, signal: AbortSignal): Promise<number> => {
  let moved = 0;
  for (const application_id of await listStaleRules(sql, tag, APPLICATIONS_MAX)) {
    let some: number | undefined = 0;
    while (some !== undefined && !signal.aborted) {
      some = await identifySome(sql, application_id);
      moved += some ?? 0;
    }
  }
  return moved;
};

/**
 * Finds pictures that another rule identifies than the one of their application. They come of a process that still used the
 * former rule when the pins were identified. The next `identifyPins` moves their pins.
 * @returns the other pictures
 */
export const setAsideMisidentified = async (
  sql: Database,
  due: readonly DuePicture[],
): Promise<DuePicture[]> => {
  const idOf = await readPictureIds(sql, due);
  const isRight = (picture: DuePicture): boolean => idOf(picture) === picture.picture_id;
  const wrong = due.filter((picture) => !isRight(picture)).map(({ picture_id }) => picture_id);
  if (wrong.length > 0) await identifyAgain(sql, wrong);
  return due.filter(isRight);
};
