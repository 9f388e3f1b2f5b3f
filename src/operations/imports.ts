/** Games that another catalogue has decided. */
import { randomUUIDv7 } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from '#db/client.ts';
import { readIdentityRules } from '#db/queries/addresses.ts';
import {
  insertImportedGames,
  insertWaitingGames,
  listTakenIds,
  type WaitingGame,
} from '#db/queries/imports.ts';
import { pinPictures } from '#db/queries/picture-pins.ts';
import { applicationGameDetailSchema } from '#src/contract/application.ts';
import { applicationId, displayName } from '#src/contract/application-settings.ts';
import { identifier, optionalHttpUrl, PROSE_MAX, storableText } from '#src/contract/text.ts';
import { AUDIT_STATUSES } from '#src/contract/words.ts';
import { UsageError } from '#src/errors.ts';
import { applicationSubject, requireActiveApplication } from '#src/operations/applications.ts';
import { defineOperation, ForbiddenError } from '#src/operations/operation.ts';
import {
  addressesEndAt,
  CONTENT,
  CONTENT_COLUMNS,
  contentHash,
  type GameContent,
} from '#src/rules/mapping.ts';

/** Most games of one transaction. */
export const IMPORT_MAX = 1_000;
/** An audit_time may be this far ahead, because clocks differ. */
const AHEAD_MS = 60_000;

const moment = z.iso.datetime({ offset: true, error: 'must be a time such as 2026-03-31T09:05:00Z' });

const content = z.object(
  Object.fromEntries(
    CONTENT_COLUMNS.map((name) => [name, applicationGameDetailSchema.shape[CONTENT[name].from]]),
  ) as unknown as { [Name in keyof GameContent]: z.ZodType<GameContent[Name]> },
);

/** A game in one line of a file, as `game export` writes it. Content is given whole, or not at all. */
export const gameLine = z
  .strictObject({
    application_id: applicationId.optional(),
    application_game_id: identifier,
    game_id: z.guid('must be a UUID').toLowerCase().optional(),
    ...content.partial().shape,
    game_package_url: optionalHttpUrl.default(''),
    audit_status: z.enum(AUDIT_STATUSES),
    audit_time: moment.optional(),
    decided_by: displayName.optional(),
    reason: z.string().optional(),
    text: storableText(PROSE_MAX).optional(),
    withdrawn_at: moment.optional(),
  })
  .superRefine((line, { addIssue }) => {
    const refuse = (field: string, message: string): void =>
      addIssue({ code: 'custom', path: [field], message });
    const missing = CONTENT_COLUMNS.filter((name) => line[name] === undefined);
    if (missing.length > 0 && missing.length < CONTENT_COLUMNS.length)
      refuse(missing[0] ?? '', 'is missing: give the whole content, or none');
    if (missing.length > 0 && line.withdrawn_at !== undefined)
      refuse('withdrawn_at', 'is of a game with content');
    const isDecided = line.audit_status !== 'pending';
    if (isDecided && line.audit_time === undefined) refuse('audit_time', 'is missing: when was it decided?');
    for (const field of ['audit_time', 'withdrawn_at'] as const) {
      const ms = Date.parse(line[field] ?? '');
      if (ms > Date.now() + AHEAD_MS) refuse(field, 'lies in the future');
      // Some catalogues write the first day of a calendar if they have no time.
      if (ms < 0) refuse(field, 'is before 1970');
    }
    for (const field of ['audit_time', 'decided_by'] as const)
      if (!isDecided && line[field] !== undefined)
        refuse(field, 'is of a decided game, not of a pending one');
    for (const field of ['reason', 'text'] as const)
      if (line.audit_status !== 'rejected' && line[field] !== undefined)
        refuse(field, 'is of a rejected game');
  });
export type GameLine = z.infer<typeof gameLine>;

/** The `decided_by` of a decision for which the other catalogue names none. */
const DECIDED_ELSEWHERE = 'import';

const toWaitingGame = (line: GameLine): WaitingGame => ({
  application_game_id: line.application_game_id,
  game_id: line.game_id ?? randomUUIDv7(),
  game_package_url: line.game_package_url,
  audit_status: line.audit_status,
  audit_time: line.audit_time === undefined ? null : new Date(line.audit_time),
  decided_by: line.audit_status === 'pending' ? null : (line.decided_by ?? DECIDED_ELSEWHERE),
  reason: line.reason ?? null,
  text: line.text ?? null,
});

const contentOf = (line: GameLine): GameContent | undefined =>
  line.game_name === undefined
    ? undefined
    : (Object.fromEntries(CONTENT_COLUMNS.map((name) => [name, line[name]])) as GameContent);

/** @throws UsageError if an id of the platform is of another game */
const requireFreeIds = async (tx: Queryable, application_id: string, games: readonly WaitingGame[]) => {
  const [taken] = await listTakenIds(tx, application_id, games);
  if (taken !== undefined) throw new UsageError(`The game_id ${taken} is of another game.`);
};

export const importGames = defineOperation({
  name: 'game.import',
  title: 'Store games that another catalogue has decided, with their decisions',
  notByToken: 'on the command line',
  right: 'manage_applications',
  input: z.object({
    application_id: applicationId,
    games: z
      .array(gameLine)
      .min(1, 'must name at least one game')
      .max(IMPORT_MAX, `must be at most ${IMPORT_MAX}`)
      .refine(
        (games) => new Set(games.map((game) => game.application_game_id)).size === games.length,
        'names a game twice',
      ),
  }),
  subject: applicationSubject,
  /** A game that is stored already stays as it is, so an import that was interrupted can run again. */
  run: async (tx, { application_id, games }, { caller }) => {
    // An import makes decisions in the names of other people.
    if (caller.actor.actor_kind !== 'command_line')
      throw new ForbiddenError('Games are imported on the command line alone.');
    await requireActiveApplication(tx, application_id);
    const lines = games.map((line) => ({ content: contentOf(line), line, game: toWaitingGame(line) }));
    await requireFreeIds(
      tx,
      application_id,
      lines.map(({ game }) => game),
    );
    const rule = (await readIdentityRules(tx, [{ application_id }]))(application_id);
    const whole = lines.flatMap(({ content, line, game }) =>
      content === undefined
        ? []
        : {
            ...game,
            ...content,
            content_hash: contentHash(content, rule),
            addresses_end_at: addressesEndAt(content),
            withdrawn_at: line.withdrawn_at === undefined ? null : new Date(line.withdrawn_at),
          },
    );
    const stored = await insertImportedGames(tx, application_id, whole);
    await pinPictures(tx, stored.audit_ids);
    const waiting = await insertWaitingGames(
      tx,
      application_id,
      lines.flatMap(({ content, game }) => (content === undefined ? game : [])),
    );
    const imported = stored.games + waiting;
    return { imported, decided: stored.audit_ids.length, waiting, existing: games.length - imported };
  },
  log: (result) => (result.imported > 0 ? { details: result } : []),
});
