import { type CliProcess, startCli } from '#test/support/cli.ts';
import { until } from '#test/support/until.ts';

/** A process of the fleet. */
export type FleetProcess = {
  process: CliProcess;
  /** URL of its `/metrics`. */
  metrics: string;
  /** URL that it serves; `ready` for a worker. */
  address: string;
  /** URL of its API, if it has one. */
  api: string | undefined;
  /** Its stderr so far. */
  log: () => string;
  stop: () => Promise<void>;
};

/** Starts a process of the fleet and waits until it prints its addresses. */
export const startFleetProcess = async (name: string, env: Record<string, string>): Promise<FleetProcess> => {
  const process = startCli([name, '--json'], { METRICS_PORT: '0', ...env });
  const log = () => process.output().stderr;
  const line = await until(`${name} starts`, () => {
    if (process.exitCode() !== null) throw new Error(`${name} ended with ${process.exitCode()}:\n${log()}`);
    const { stdout } = process.output();
    return stdout.includes('\n') && stdout;
  });
  const document: Record<string, string> = JSON.parse(line);
  if (document.metrics === undefined) throw new Error(`${name} did not start: ${line}${log()}`);
  return {
    process,
    metrics: document.metrics,
    address: document[name] ?? '',
    api: document.api,
    log,
    stop: async () => {
      process.kill('SIGTERM');
      await process.done;
    },
  };
};

/** One scrape: `name{labels}` -> value, as a line of the exposition has it. */
export const scrape = async (url: string): Promise<Map<string, number>> => {
  const text = await (await fetch(url)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
};
