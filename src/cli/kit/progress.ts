import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import stringWidth from 'string-width';
import type { Output } from '#src/cli/kit/output.ts';
import { cutTo } from '#src/cli/kit/table.ts';

export type Progress = {
  update: (label: string, value: number, total: number) => void;
  /** Writes a note above the bars, as `Output` writes it without bars. */
  note: Output['note'];
  stop: () => void;
};

const BAR = 30;

const renderBar = (
  label: string,
  { value, total }: { value: number; total: number },
  unit: string,
): string => {
  const filled = Math.round((BAR * Math.min(value, total)) / Math.max(total, 1));
  return `${label} ${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${value}/${Math.max(total, value)} ${unit}`;
};

/**
 * Opens one progress bar for each label on stderr, or one for all if the screen has fewer lines than labels. Changes no mode
 * of the terminal, so that nothing needs to be restored, however the process ends.
 * @returns undefined with `--json`, or if stderr is no terminal
 */
export const openProgress = (out: Output, labels: readonly string[], unit: string): Progress | undefined => {
  const { stderr } = out.stdio;
  if (!stderr.isTTY || out.json || labels.length === 0) return undefined;
  const states = new Map(labels.map((label) => [label, { value: 0, total: 0 }]));
  const width = Math.max(...labels.map((label) => stringWidth(label)));
  let drawn = 0;
  const draw = (): void => {
    const each = [...states].map(([label, state]) =>
      renderBar(label + ' '.repeat(width - stringWidth(label)), state, unit),
    );
    const add = (key: 'value' | 'total') => [...states.values()].reduce((sum, state) => sum + state[key], 0);
    const isShort = each.length < (stderr.rows ?? 0);
    const lines = isShort ? each : [renderBar('all', { value: add('value'), total: add('total') }, unit)];
    moveCursor(stderr, 0, -drawn);
    for (const line of lines) {
      cursorTo(stderr, 0);
      stderr.write(`${cutTo(line, (stderr.columns ?? BAR) - 1)}\u001b[K\n`);
    }
    drawn = lines.length;
  };
  return {
    update: (label, value, total) => {
      const state = states.get(label);
      if (state === undefined) return;
      Object.assign(state, { value, total });
      draw();
    },
    note: (text) => {
      moveCursor(stderr, 0, -drawn);
      clearScreenDown(stderr);
      out.note(text);
      if (drawn === 0) return;
      drawn = 0;
      draw();
    },
    stop: draw,
  };
};
