import { createInterface } from 'node:readline/promises';
import type { Output } from '#src/cli/kit/output.ts';

/** May a command prompt? Only a person at a terminal can answer. */
export const isInteractive = ({ json, stdio }: Output): boolean =>
  !json && stdio.stdin.isTTY === true && stdio.stderr.isTTY === true;

export type Prompt = Disposable & {
  /** Asks on stderr. @returns the answer without outer spaces; undefined after Ctrl-C, or at the end of input */
  ask: (question: string) => Promise<string | undefined>;
};

export const openPrompt = ({ stdio }: Output): Prompt => {
  const terminal = createInterface({ input: stdio.stdin, output: stdio.stderr });
  const ended = new AbortController();
  terminal.once('SIGINT', () => ended.abort());
  terminal.once('close', () => ended.abort());
  return {
    ask: async (question) => {
      try {
        return (await terminal.question(question, { signal: ended.signal })).trim();
      } catch (error) {
        if (ended.signal.aborted) return undefined;
        throw error;
      }
    },
    [Symbol.dispose]: () => terminal.close(),
  };
};

export const askYesNo = async (out: Output, question: string): Promise<boolean> => {
  using prompt = openPrompt(out);
  return /^y(es)?$/i.test((await prompt.ask(`${question} [y/N] `)) ?? '');
};
