/** Columns that several lists have. */
import type { AuditRow } from '#db/queries/audit.ts';
import { describeActorKind } from '#src/contract/audit.ts';
import { type Column, column } from '#src/lists/list.ts';

type OfApplication = { application_id: string };

/** The application of a row, by its id. */
export const APPLICATION = column<OfApplication>({
  key: 'application_id',
  title: 'Application',
  kind: 'id',
  link: ({ application_id }) => ({ to: 'application', id: application_id }),
});

type NamedGame = OfApplication & { game_id: string; application_game_id: string; game_name: string };

/** The name of a game, as a link to it. */
export const GAME_NAME = column<NamedGame>({
  key: 'game_name',
  title: 'Game',
  link: ({ application_id, application_game_id, game_id }) => ({
    to: 'application_game',
    application_id,
    application_game_id,
    game_id,
  }),
});

/** A game with its revision, as decisions on the command line name it. */
export const DECIDABLE = column<{ game_id: string; revision: number }>({
  key: 'game',
  kind: 'id',
  value: ({ game_id, revision }) => `${game_id}@${revision}`,
  on: 'terminal',
});

/** The game_id of the application. */
export const APPLICATION_GAME = column<{ application_game_id: string }>({
  key: 'their id',
  title: "Application's game_id",
  kind: 'id',
  value: (row) => row.application_game_id,
  width: 'wide',
});

/** A counter. @param title by default its name in words */
export const countColumn = <Key extends string>(key: Key, title?: string): Column<Record<Key, number>> =>
  column({ key, kind: 'number', ...(title !== undefined && { title }) });

type Entry = Pick<AuditRow, 'actor' | 'actor_kind' | 'os_user'>;

/** Who acted, for pages, with the kind of actor in a second line. */
export const ACTOR = column<Entry>({ key: 'actor', title: 'Who', note: describeActorKind, on: 'page' });

/** Who acted, for terminals, which have no second line. */
export const WHO = column<Entry>({
  key: 'who',
  value: (entry) => {
    const kind = describeActorKind(entry);
    return kind === null ? entry.actor : `${entry.actor} (${kind})`;
  },
  on: 'terminal',
});
