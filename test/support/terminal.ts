import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { test } from 'vitest';
import { quoteForShell } from '#src/cli/kit/format.ts';
import { CATALOGUE } from '#test/support/cli.ts';
import { until } from '#test/support/until.ts';

const run = promisify(execFile);
/** Between two looks. */
const LOOK_MS = 50;

/** The command as the shell echoed it: twice, if it was typed before the prompt. */
const ECHOED = /^[\s\S]*echo "\[exit \$\?\]"\n/;

const isMissing = spawnSync('tmux', ['-V']).error !== undefined;
/** A test on a terminal: skipped if tmux is not installed. With CI set it fails then. */
export const terminalTest = test.skipIf(isMissing && !process.env.CI);

/** A shell in a terminal of tmux, in which `catalogue` is the command line. */
export type Terminal = {
  /** Types text and Enter. */
  type: (line: string) => Promise<void>;
  /** Presses a key by tmux's name: `C-c`, `q`, `Tab`. */
  press: (key: string) => Promise<void>;
  /** The lines on the screen and above it, each as it was written: one that the terminal wrapped is one line. */
  screen: () => Promise<string>;
  /** Clears the screen, runs a command to its end, and returns what it wrote and its exit code. */
  run: (command: string) => Promise<{ screen: string; exit: number }>;
  /** Is the cursor visible, and does the terminal wrap long lines? */
  modes: () => Promise<{ cursor: boolean; wrap: boolean }>;
  /** Escape sequences included. */
  colours: () => Promise<string>;
  close: () => Promise<void>;
};

export const openTerminal = async (options: {
  columns: number;
  rows?: number;
  env?: Record<string, string>;
}): Promise<Terminal> => {
  const { columns, rows = 50, env = {} } = options;
  const home = await mkdtemp(join(tmpdir(), 'catalogue-terminal-'));
  const variables = Object.entries({ PAGER: 'cat', ...env });
  await writeFile(
    join(home, 'rc'),
    [
      "PS1='$ '",
      ...variables.map(([name, value]) => `export ${name}=${quoteForShell(value)}`),
      `catalogue() { ${quoteForShell(CATALOGUE)} "$@"; }`,
    ].join('\n'),
  );
  const socket = `catalogue-${randomUUID()}`;
  const tmux = async (...args: string[]): Promise<string> =>
    (await run('tmux', ['-L', socket, '-f', '/dev/null', ...args])).stdout;
  const size = ['-x', String(columns), '-y', String(rows)];
  const shell = `env -i PATH="$PATH" HOME=${home} LANG=C.UTF-8 TERM=screen-256color bash --noprofile --rcfile ${home}/rc -i`;
  await tmux('-u', 'new-session', '-d', ...size, '-c', home, shell, ';', 'set', 'status', 'off');
  await tmux('resize-window', ...size);
  const press = async (key: string) => void (await tmux('send-keys', key));
  const type = async (line: string): Promise<void> => {
    await tmux('send-keys', '-l', line);
    await press('Enter');
  };
  const capture = async (...flags: string[]): Promise<string> => {
    // A look at the screen is a process of its own.
    await delay(LOOK_MS);
    return (await tmux('capture-pane', '-p', '-J', '-S', '-', ...flags))
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  };
  return {
    type,
    press,
    screen: () => capture(),
    colours: () => capture('-e'),
    run: async (command) => {
      await type('clear');
      await until('the screen is clear', async () => (await tmux('capture-pane', '-p')).trim() === '$');
      await tmux('clear-history');
      await type(`${command}; echo "[exit $?]"`);
      const screen = await until(`${command} ends`, async () => {
        const text = await capture();
        return /^\[exit \d+\]$/m.test(text) && text;
      });
      const [, exit] = /^\[exit (\d+)\]$/m.exec(screen) ?? [];
      return { screen: screen.replace(ECHOED, '').replace(/\[exit[\s\S]*$/, ''), exit: Number(exit) };
    },
    modes: async () => {
      const [cursor, wrap] = (await tmux('display-message', '-p', '#{cursor_flag} #{wrap_flag}'))
        .trim()
        .split(' ');
      return { cursor: cursor === '1', wrap: wrap === '1' };
    },
    close: async () => {
      await tmux('kill-server').catch(() => {});
      await rm(home, { recursive: true, force: true, maxRetries: 20 });
    },
  };
};
