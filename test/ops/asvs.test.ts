import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** The sections of ASVS 5.0.0, each with its number of requirements of levels 1 and 2: they are the first ones. */
const SECTIONS = `1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1
4.3:2 4.4:4 5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2
8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:2 11.2:3 11.3:3 11.4:4
11.5:1 11.6:1 12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5
16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2`;

const all = SECTIONS.split(/\s+/).flatMap((section) => {
  const [name, count] = section.split(':');
  return Array.from({ length: Number(count) }, (_, n) => `${name}.${n + 1}`);
});

/** The requirements of a first cell such as `1.2.6–1.2.8, 1.3.1`. */
const expand = (cell: string): string[] =>
  cell.split(', ').flatMap((part) => {
    const [first = '', last = first] = part.split('–');
    expect(all, part).toEqual(expect.arrayContaining([first, last]));
    return all.slice(all.indexOf(first), all.indexOf(last) + 1);
  });

type Answer = { verdict: string; requirements: string[]; how: string; shownBy: string };

/** An answer is a row of a table, or a line of the list of what does not apply. */
const readAnswers = ([heading = '', ...lines]: readonly string[]): Answer[] =>
  lines
    .map((line) => /^(?:\| (\d[^|]*) \| (.*) \| (.*) \||- (\d[^:]*): (.*))$/.exec(line))
    .filter((match) => match !== null)
    .map(([, cell, how, shownBy = '', item = '', why = '']) => ({
      verdict: heading,
      requirements: expand(cell ?? item),
      how: how ?? why,
      shownBy,
    }));

const page = await readFile('docs/asvs.md', 'utf8');
const answers = page.split(/^## /m).flatMap((section) => readAnswers(section.split('\n')));

test('docs/asvs.md answers every requirement of levels 1 and 2 once', () => {
  expect(all).toHaveLength(253);
  expect(answers.flatMap(({ requirements }) => requirements).sort()).toEqual(all.toSorted());
});

test('each answer is below one of five verdicts, the unmet ones first, and says how', () => {
  expect([...new Set(answers.map(({ verdict }) => verdict))]).toEqual([
    'Not met',
    'Met with a limit',
    'Yours',
    'Not applicable',
    'Met',
  ]);
  for (const { requirements, how } of answers) expect(how.trim(), requirements.join()).not.toBe('');
});

test('each file that an answer names is there, and what is met names one', () => {
  for (const { verdict, requirements, shownBy } of answers) {
    const files = [...shownBy.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    for (const file of files) expect(existsSync(file), `${requirements}: ${file}`).toBe(true);
    if (verdict === 'Met') expect(files, requirements.join()).not.toEqual([]);
  }
});
