import type { Database } from '#db/client.ts';
import { findGame, type GameRow } from '#db/queries/games.ts';
import { printable } from '#src/cli/output.ts';
import { style } from '#src/cli/table.ts';
import { UsageError } from '#src/errors.ts';
import type { GameDiff } from '#src/review/compare-revisions.ts';
import type { FieldDiff, ListItem, TextPart } from '#src/review/diff.ts';

/** @throws UsageError when there is no such game */
export const requireGame = async (sql: Database, game_id: string): Promise<GameRow> => {
  const game = await findGame(sql, game_id);
  if (game !== undefined) return game;
  throw new UsageError(`There is no game ${game_id}. List them: npx catalogue game list`);
};

/** A game without its hashes. */
export const toGameDocument = ({ content_hash: _content, list_hash: _list, ...game }: GameRow) => game;

/** The marks and the colours of `git diff --word-diff`. */
const mark = ({ type, text }: TextPart): string => {
  if (type === 'same') return text.split('\n').map(printable).join('\n');
  const [open, close, colour] =
    type === 'removed' ? (['[-', '-]', 'red'] as const) : (['{+', '+}', 'green'] as const);
  const lines = `${open}${text}${close}`.split('\n');
  return lines.map((line) => style(colour, printable(line))).join('\n');
};

const describeItem = ({ type, value, from, to }: ListItem): string => {
  if (type === 'moved') return `  ${to}. ${printable(value)} (moved from ${from})`;
  return `  ${to ?? from}. ${mark({ type, text: value })}`;
};

const describeField = (diff: FieldDiff): string[] => {
  if (diff.kind === 'list') return [`${diff.field}:`, ...diff.items.map(describeItem)];
  return `${diff.field}: ${diff.parts.map(mark).join('')}`.split('\n');
};

/** The field as it is now, without marks. */
const withoutMarks = (diff: FieldDiff): FieldDiff =>
  diff.kind === 'text'
    ? { ...diff, parts: diff.parts.map((part) => ({ ...part, type: 'same' })) }
    : { ...diff, items: diff.items.map((item) => ({ ...item, type: 'same' })) };

/** The difference of two revisions as lines: the changed fields, or every field of a game that was never decided. */
export const describeDiff = ({ game, from, to, fields }: GameDiff): string[] => {
  const who = `${game.game_name} (${game.application_id}, ${game.application_game_id}): ${game.audit_status}`;
  const head = style('bold', printable(who));
  if (from === null)
    return [
      `${head}. Revision ${to}; no revision before it was decided.`,
      ...fields.map(withoutMarks).flatMap(describeField),
    ];
  const changed = fields.filter((field) => field.changed);
  const summary = changed.length === 0 ? 'Nothing differs between' : 'Differences of';
  return [`${head}. ${summary} revisions ${from} and ${to}:`, ...changed.flatMap(describeField)];
};
