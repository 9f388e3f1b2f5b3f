/** One table of the reference. */
export type Table = { title: string; intro: string; head: readonly string[]; rows: readonly string[][] };

/** A cell of Markdown: a bar would end it, a newline the row, and `<` outside code would begin HTML. */
const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(`[^`]*`)|</g, (_, code?: string) => code ?? '\\<');
const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** Renders a section of a page. */
export const renderTable = ({ title, intro, head, rows }: Table): string =>
  [`## ${title}`, '', intro, '', line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n');

/** Code of Markdown; nothing if there is no text. */
export const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
