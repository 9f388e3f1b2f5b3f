import { type ChangeObject, diffArrays } from 'diff';
import { CONTENT_COLUMNS, type ContentColumn, type GameContent } from '#src/rules/mapping.ts';

/** A part of a text. `same` and `removed` parts together are the text before, `same` and `added` ones the text after. */
export type TextPart = { type: 'same' | 'removed' | 'added'; text: string };

/**
 * An item of a list: the same, removed, added, or moved to another place among its neighbours. Positions count from 1;
 * null where the item is not in the list. Items other than `removed` are in the order of the list after.
 */
export type ListItem = {
  type: 'same' | 'removed' | 'added' | 'moved';
  value: string;
  from: number | null;
  to: number | null;
};

/** How one field changed. `before` is not known for a game's first revision, so everything is added. */
export type FieldDiff = { field: ContentColumn; changed: boolean } & (
  | { kind: 'text'; parts: TextPart[] }
  | { kind: 'list'; items: ListItem[] }
);

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Words, spaces and punctuation, also of languages that write no spaces. */
const wordsOf = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);
const linesOf = (text: string): string[] => text.split(/(?<=\n)/);

/** With this many changes, a comparison takes 30 ms, and it grows with their square. Beyond it, whole lines or texts are marked. */
const CHANGES_MAX = 400;
/** Texts of more characters together are not compared by words, because splitting this many takes 25 ms. */
const WORDS_TEXT_MAX = 32_768;
/** This many characters around a change are compared with it, so that it does not begin or end within a word. */
const CONTEXT = 64;

const commonPrefix = (before: string, after: string): number => {
  const most = Math.min(before.length, after.length);
  let length = 0;
  while (length < most && before[length] === after[length]) length += 1;
  return length;
};

const commonSuffix = (before: string, after: string, most: number): number => {
  let length = 0;
  while (length < most && before.at(-1 - length) === after.at(-1 - length)) length += 1;
  return length;
};

const typeOf = ({ added, removed }: ChangeObject<unknown>): TextPart['type'] => {
  if (added) return 'added';
  return removed ? 'removed' : 'same';
};

const compareTokens = (split: (text: string) => string[], before: string, after: string) =>
  diffArrays(split(before), split(after), { maxEditLength: CHANGES_MAX })?.map(
    (change): TextPart => ({ type: typeOf(change), text: change.value.join('') }),
  );

const compareMiddle = (before: string, after: string): TextPart[] =>
  (before.length + after.length <= WORDS_TEXT_MAX ? compareTokens(wordsOf, before, after) : undefined) ??
  compareTokens(linesOf, before, after) ?? [
    { type: 'removed', text: before },
    { type: 'added', text: after },
  ];

/** Joins adjacent parts of one kind. White space between two changes counts as changed, so that a phrase stays together. */
const joinParts = (parts: readonly TextPart[]): TextPart[] => {
  const joined: TextPart[] = [];
  const push = (type: TextPart['type'], text: string): void => {
    const last = joined.at(-1);
    if (last?.type === type) last.text += text;
    else if (text !== '') joined.push({ type, text });
  };
  let removed = '';
  let added = '';
  const flush = (): void => {
    const space = removed.endsWith(' ') && added.endsWith(' ') ? ' ' : '';
    push('removed', removed.slice(0, removed.length - space.length));
    push('added', added.slice(0, added.length - space.length));
    push('same', space);
    removed = '';
    added = '';
  };
  for (const [index, { type, text }] of parts.entries()) {
    const isBetween =
      removed + added !== '' && (parts[index + 1]?.type ?? 'same') !== 'same' && /^[^\S\n]+$/.test(text);
    if (type === 'removed' || (type === 'same' && isBetween)) removed += text;
    if (type === 'added' || (type === 'same' && isBetween)) added += text;
    if (type !== 'same' || isBetween) continue;
    flush();
    push('same', text);
  }
  flush();
  return joined;
};

/** Is this place between the two units of one character? */
const isWithinCharacter = (text: string, place: number): boolean =>
  /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(Math.max(0, place - 1), place + 1));

/** Compares two texts word by word. */
export const diffText = (before: string, after: string): TextPart[] => {
  const prefix = commonPrefix(before, after);
  const suffix = commonSuffix(before, after, Math.min(before.length, after.length) - prefix);
  let start = Math.max(0, prefix - CONTEXT);
  let end = Math.max(0, suffix - CONTEXT);
  if (isWithinCharacter(before, start)) start -= 1;
  if (isWithinCharacter(before, before.length - end)) end -= 1;
  return joinParts([
    { type: 'same', text: before.slice(0, start) },
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    { type: 'same', text: before.slice(before.length - end) },
  ]);
};

/** Compares two lists: the longest common sequence stays in place, other common items are moved. */
export const diffList = (before: readonly string[], after: readonly string[]): ListItem[] => {
  let from = 0;
  let to = 0;
  const items = diffArrays([...before], [...after]).flatMap((change) =>
    change.value.map((value): ListItem => {
      if (!change.added) from += 1;
      if (!change.removed) to += 1;
      return {
        type: typeOf(change),
        value,
        from: change.added ? null : from,
        to: change.removed ? null : to,
      };
    }),
  );
  const removed = Map.groupBy(
    items.filter(({ type }) => type === 'removed'),
    ({ value }) => value,
  );
  const moved = new Set<ListItem>();
  for (const item of items) {
    const origin = item.type === 'added' ? removed.get(item.value)?.shift() : undefined;
    if (origin === undefined) continue;
    moved.add(origin);
    item.type = 'moved';
    item.from = origin.from;
  }
  return items.filter((item) => !moved.has(item));
};

/**
 * Compares two revisions field by field, in the order in which they are shown.
 * @param before null for a game that was never decided; everything is then added
 */
export const diffContent = (before: GameContent | null, after: GameContent): FieldDiff[] => {
  const isChange = ({ type }: TextPart | ListItem): boolean => type !== 'same';
  return CONTENT_COLUMNS.map((field): FieldDiff => {
    const [was, is] = [before?.[field], after[field]];
    if (Array.isArray(is)) {
      const items = diffList(Array.isArray(was) ? was : [], is);
      return { field, kind: 'list', items, changed: items.some(isChange) };
    }
    const parts = diffText(typeof was === 'string' ? was : '', is);
    return { field, kind: 'text', parts, changed: parts.some(isChange) };
  });
};
