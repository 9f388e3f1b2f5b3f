import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('each line about an attacker in docs/security.md names the test that shows it', async () => {
  const page = await readFile('docs/security.md', 'utf8');
  const lines = [...page.matchAll(/^\| (?!who |-|statement )(?:.+? \| ){3}(.+) \|$/gm)];
  expect(lines.length).toBeGreaterThan(30);
  for (const [line, shownBy = ''] of lines) expect(shownBy, line).toMatch(/`test\/[\w./-]+`/);
});

test('every file and heading that the pages link to or name exists', async () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    ...(await readdir('docs')).map((name) => `docs/${name}`),
  ];
  for (const page of pages.filter((name) => name.endsWith('.md'))) {
    const content = await readFile(page, 'utf8');
    const linked = [...content.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, to = '']) =>
      join(dirname(page), to),
    );
    for (const [link, to = '', anchor = ''] of content.matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)) {
      const target = to === '' ? page : join(dirname(page), to);
      expect(anchorsOf(await readFile(target, 'utf8')), `${page}: ${link}`).toContain(anchor);
    }
    // The README names a file that its reader is to write.
    const prose = page === 'README.md' ? '' : content;
    const named = [...prose.matchAll(/`((?:src|db|jobs|test|deploy)\/[\w./-]+)`/g)].map(
      ([, path = '']) => path,
    );
    for (const path of [...linked, ...named])
      await expect(stat(path), `${page}: ${path}`).resolves.toBeDefined();
  }
});

/** The parts of a page that people write: `npm run docs` writes the rest, and says so at its beginning. */
const handWritten = (page: string): string[] => {
  const sections = page.split(/^(?=## )/m);
  if (sections[0]?.includes('`npm run docs` writes this page')) return [];
  return sections.filter((section) => !section.includes('`npm run docs` writes this section'));
};

test('the pages hold at most 1,300 lines besides what npm run docs writes, and no longer ones instead', async () => {
  // The interface document is another owner's, word for word.
  const names = (await readdir('docs')).filter((name) => name.endsWith('.md') && name !== 'interface.md');
  const pages = await Promise.all(
    ['README.md', ...names.map((name) => `docs/${name}`)].map((path) => readFile(path, 'utf8')),
  );
  const written = pages.flatMap(handWritten).join('');
  expect(written.split('\n').length - 1).toBeLessThanOrEqual(1_300);
  expect(written.match(/\S+/g)?.length).toBeLessThan(27_500);
});

test('what npm run docs writes is no part of what people write', async () => {
  const [reference = '', runbook = ''] = await Promise.all(
    ['docs/reference.md', 'docs/runbook.md'].map((path) => readFile(path, 'utf8')),
  );
  expect(handWritten(reference)).toEqual([]);
  expect(handWritten(runbook).map((section) => section.split('\n', 1)[0])).toEqual([
    '# Runbook',
    '## Faults by their first sign',
  ]);
});
