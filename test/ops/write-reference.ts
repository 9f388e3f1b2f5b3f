// Writes what is made of the code: `npm run docs`. test/ops/reference.test.ts compares it.
import { writeFile } from 'node:fs/promises';
import { GENERATED } from '#test/ops/reference/generated.ts';

for (const [path, render] of Object.entries(GENERATED)) await writeFile(path, await render());
