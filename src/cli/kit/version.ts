import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import manifest from '#package.json' with { type: 'json' };

const inRoot = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/** Finds the commit of this code: an image has it in the file COMMIT, a checkout in git. */
const findCommit = (): string | undefined => {
  try {
    return readFileSync(inRoot('COMMIT'), 'utf8').trim();
  } catch {
    // The repository of this directory alone, because the directory may lie in the repository of something else.
    const args = ['--git-dir', inRoot('.git'), 'rev-parse', 'HEAD'];
    try {
      return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return undefined;
    }
  }
};

/** Describes the version of this code, with its commit if that is known: `1.0.0 (2f1c9ab)`. */
export const describeVersion = (): string => {
  const commit = findCommit()?.slice(0, 7);
  return commit ? `${manifest.version} (${commit})` : manifest.version;
};
