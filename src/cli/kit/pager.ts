import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Stdio } from '#src/cli/kit/invocation.ts';

/** The same as git's, with which less ends at once if all fits on the screen, shows colours, and leaves the text on the screen. */
const DEFAULT_PAGER = 'if command -v less >/dev/null; then less; else cat; fi';
const OPTIONS = 'test -n "$LESS" || export LESS=FRX';

/**
 * Shows lines in a pager if they do not fit on the screen. The pager writes to the terminal of the process.
 * @param pager the shell command of `PAGER`; `cat` is none
 */
export const showInPager = async (
  lines: readonly string[],
  stdout: Stdio['stdout'],
  pager = DEFAULT_PAGER,
): Promise<void> => {
  const text = `${lines.join('\n')}\n`;
  if (pager === 'cat' || lines.length < (stdout.rows ?? 0)) return void stdout.write(text);
  // Ctrl-C belongs to the pager: less stops a search with it.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  const child = spawn('sh', ['-c', `${OPTIONS}; ${pager}`], { stdio: ['pipe', 'inherit', 'inherit'] });
  // The reader may leave the pager before it has read everything.
  child.stdin.on('error', ignore);
  child.stdin.end(text);
  const [exit] = await once(child, 'exit');
  process.off('SIGINT', ignore);
  // The shell did not find the pager.
  if (exit === 127) stdout.write(text);
};
