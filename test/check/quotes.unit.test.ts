import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { CASES } from '#src/check/check-application.ts';

const document = await readFile(new URL('../../docs/interface.md', import.meta.url), 'utf8');

/** The text of section `4.4`, or of point 2 of section 7 for `7.2`; of section 4, what is before 4.1. */
const sectionOf = (number: string): string => {
  const [whole = '', point = ''] = number.split('.');
  const upToHeading = (heading: string) =>
    document.split(new RegExp(`^#+ ${heading.replace('.', '\\.')}\\.? .*$`, 'm'))[1]?.split(/^#/m)[0];
  const text = upToHeading(number) ?? new RegExp(`^${point}\\. .*$`, 'm').exec(upToHeading(whole) ?? '')?.[0];
  return text?.replaceAll(/ +/g, ' ') ?? '';
};

test.each(CASES.filter(({ section }) => section !== null))(
  'the words that $name cites are in the section that it names',
  ({ section, quote }) => {
    expect(quote).not.toBeUndefined();
    expect(sectionOf(section ?? '')).toContain(quote);
  },
);

test('a limit of the platform cites nothing', () => {
  for (const { section, quote } of CASES) expect(section === null).toBe(quote === undefined);
});
