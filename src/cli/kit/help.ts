import type { Command, CommandUnknownOpts, Help } from '@commander-js/extra-typings';

/** The width of help without a terminal, as commander has it. */
const WIDTH = 80;
/** A description with fewer columns than this beside its term is printed below it. */
const BESIDE_MIN = 32;
const INDENT = 6;

/** A word with quotes may contain spaces. */
const WORD = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/** Joins words to lines of at most this width. */
const fill = (words: readonly string[], width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length > width && line !== '') lines.push(line);
    line = longer.length > width ? word : longer;
  }
  return [...lines, line];
};

const formatItem = (term: string, termWidth: number, description: string, width: number): string => {
  if (description === '') return `  ${term}`;
  const beside = width - termWidth - 4;
  if (beside < BESIDE_MIN)
    return [
      `  ${term}`,
      ...fill(description.split(/\s+/), width - INDENT).map((line) => ' '.repeat(INDENT) + line),
    ].join('\n');
  return fill(description.split(/\s+/), beside)
    .map((line, n) => `  ${(n === 0 ? term : '').padEnd(termWidth)}  ${line}`)
    .join('\n');
};

/** Wraps commander's help to any terminal, because commander wraps neither the usage nor narrow columns. */
export const wrapsHelp: Partial<Help> = {
  minWidthToWrap: BESIDE_MIN,
  formatItem: (term, termWidth, description, helper) =>
    formatItem(term, termWidth, description, helper.helpWidth ?? WIDTH),
  styleUsage(usage) {
    return fill(usage.split(' '), (this.helpWidth ?? WIDTH) - INDENT - 'Usage: '.length).join(
      `\n${' '.repeat(INDENT)}`,
    );
  },
};

type Wrap = {
  /** A term with its description. */
  item: (term: string, termWidth: number, description: string) => string;
  text: (text: string) => string;
  /** A line for the shell, which stays whole if it is copied. */
  shell: (command: string) => string;
};

/** Adds lines after the help of a command. */
export const addHelpAfter = (
  command: Command | CommandUnknownOpts,
  toLines: (wrap: Wrap) => readonly string[],
): void => {
  command.addHelpText('after', ({ error }) => {
    const { getErrHelpWidth, getOutHelpWidth } = command.configureOutput();
    const given = (error ? getErrHelpWidth : getOutHelpWidth)?.();
    const width = given ?? WIDTH;
    return toLines({
      item: (term, termWidth, description) => formatItem(term, termWidth, description, width),
      text: (text) => fill(text.split(' '), width).join('\n'),
      // Two columns remain for the backslash. Without a terminal, the command is one line.
      shell: (line) =>
        fill(line.match(WORD) ?? [], (given ?? Number.POSITIVE_INFINITY) - INDENT - 2).join(
          ` \\\n${' '.repeat(INDENT)}`,
        ),
    }).join('\n');
  });
};
