import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { GENERATED } from '#test/ops/reference/generated.ts';

test.each(Object.entries(GENERATED))(
  '%s is what the code says (npm run docs writes it)',
  async (path, render) => {
    expect(await readFile(path, 'utf8')).toBe(await render());
  },
);
