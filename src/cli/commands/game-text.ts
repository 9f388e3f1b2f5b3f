import type { Database } from '#db/client.ts';
import { findGame, type GameRow } from '#db/queries/games.ts';
import { isAddress, markLines, style } from '#src/cli/kit/table.ts';
import { NotFoundError } from '#src/errors.ts';
import { toPrintable } from '#src/lib/printable.ts';
import type { GameDiff } from '#src/review/compare-revisions.ts';
import type { FieldDiff, ListItem, TextPart } from '#src/rules/diff.ts';

/** @throws NotFoundError when there is no such game */
export const requireGame = async (sql: Database, game_id: string): Promise<GameRow> => {
  const game = await findGame(sql, game_id);
  if (game !== undefined) return game;
  throw new NotFoundError('game', game_id);
};

/** The JSON document of a game: its row without the hashes. */
export const toGameDocument = ({ content_hash: _content, list_hash: _list, ...game }: GameRow) => game;

/** Marks a part as `git diff --word-diff` does: `[-removed-]` in red, `{+added+}` in green. */
const markPart = ({ type, text }: TextPart): string => {
  if (type === 'same') return text.split('\n').map(toPrintable).join('\n');
  const [open, close, colour] =
    type === 'removed' ? (['[-', '-]', 'red'] as const) : (['{+', '+}', 'green'] as const);
  const lines = `${open}${text}${close}`.split('\n');
  return lines.map((line) => style(colour, toPrintable(line))).join('\n');
};

/** `  2. text`: the item's position in the new list, or in the old one if it was removed. */
const describeItem = ({ type, value, from, to }: ListItem): string => {
  if (type === 'moved') return `  ${to}. ${toPrintable(value)} (moved from ${from})`;
  return `  ${to ?? from}. ${markPart({ type, text: value })}`;
};

const describeField = (diff: FieldDiff, width: number): string[] => {
  if (diff.kind === 'list') {
    const items = diff.items.map((item) => [item.value, describeItem(item)] as const);
    return [
      `${diff.field}:`,
      ...items.flatMap(([value, line]) => (isAddress(value) ? [line] : markLines(line, width))),
    ];
  }
  const text = `${diff.field}: ${diff.parts.map(markPart).join('')}`;
  return diff.parts.every((part) => isAddress(part.text)) ? [text] : markLines(text, width);
};

/** Removes the marks of a field that was compared with nothing, because the whole text would be marked as added. */
const withoutMarks = (diff: FieldDiff): FieldDiff =>
  diff.kind === 'text'
    ? { ...diff, parts: diff.parts.map((part) => ({ ...part, type: 'same' })) }
    : { ...diff, items: diff.items.map((item) => ({ ...item, type: 'same' })) };

/**
 * Describes a difference in lines: the changed fields, or every field if no earlier revision was decided.
 * @param width columns of the terminal, which would wrap a longer text, so that its rest looked like a line of ours
 */
export const describeDiff = (
  { game, from, to, fields }: GameDiff,
  width = Number.POSITIVE_INFINITY,
): string[] => {
  const { game_name, application_id, application_game_id, audit_status } = game;
  const title = `${game_name} (${application_id}, ${application_game_id}): ${audit_status}`;
  const headed = (text: string): string[] => markLines(`${style('bold', toPrintable(title))}${text}`, width);
  if (from === null)
    return [
      ...headed(`. Revision ${to}; no earlier revision was passed or rejected.`),
      ...fields.map(withoutMarks).flatMap((field) => describeField(field, width)),
    ];
  const changed = fields.filter((field) => field.changed);
  if (changed.length === 0) return headed(`. Revisions ${from} and ${to} do not differ.`);
  return [
    ...headed(`. Differences of revisions ${from} and ${to}:`),
    ...changed.flatMap((field) => describeField(field, width)),
  ];
};
