import type { Output } from '#src/cli/output.ts';

export type Progress = { update: (label: string, value: number, total: number) => void; stop: () => void };

/** One progress bar a label on stderr. @returns undefined with `--json`, or if stderr is no terminal */
export const openProgress = async (
  out: Output,
  labels: readonly string[],
  unit: string,
): Promise<Progress | undefined> => {
  if (!process.stderr.isTTY || out.json) return undefined;
  const { default: cliProgress } = await import('cli-progress');
  const bars = new cliProgress.MultiBar(
    {
      format: `{label} {bar} {value}/{total} ${unit}`,
      hideCursor: true,
      stream: process.stderr,
      barsize: 30,
      autopadding: true,
    },
    cliProgress.Presets.shades_classic,
  );
  const width = Math.max(0, ...labels.map((label) => label.length));
  const byLabel = new Map(labels.map((label) => [label, bars.create(1, 0, { label: label.padEnd(width) })]));
  return {
    update: (label, value, total) => {
      const bar = byLabel.get(label);
      bar?.setTotal(Math.max(total, 1));
      bar?.update(value);
    },
    stop: () => bars.stop(),
  };
};
