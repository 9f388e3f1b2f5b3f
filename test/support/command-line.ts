import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type CliResult, documentOf, runCli } from '#test/support/cli.ts';
import { ACCESS_TOKEN, webhooksAt } from '#test/support/factories.ts';
import { type BackendKind, useTestFleet } from '#test/support/fleet.ts';
import { asOperator } from '#test/support/roles.ts';

/** A fleet for the tests of one `describe`, driven by commands. */
export const useCommandLine = (kind: BackendKind) => {
  const fleet = useTestFleet(kind);
  let home: string;
  let env: Record<string, string>;
  /** Output of every command. */
  const written: string[] = [];

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'catalogue-cli-'));
    await writeFile(join(home, 'token'), `${ACCESS_TOKEN}\n`);
    env = {
      ...asOperator(fleet.databaseUrl),
      ...(fleet.redisUrl === undefined ? {} : { REDIS_URL: fleet.redisUrl }),
      QUEUE_PREFIX: fleet.prefix,
      CATALOGUE_HOME: home,
      METRICS_PORT: '0',
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
      LOG_LEVEL: 'trace',
    };
  });
  afterAll(async () => {
    await rm(home, { recursive: true, force: true });
  });

  const keep = (result: CliResult): CliResult => {
    written.push(result.stdout, result.stderr);
    return result;
  };
  const cli = async (args: readonly string[], stdin?: string): Promise<CliResult> =>
    keep(await runCli(args, env, stdin));
  /** A command with `--json`: its exit code and its one document. */
  const ask = async (...args: string[]) => {
    const result = await cli([...args, '--json']);
    return { exit: result.exit, answer: documentOf(result), stderr: result.stderr };
  };
  return {
    get fleet() {
      return fleet;
    },
    get env() {
      return env;
    },
    written,
    keep,
    cli,
    ask,
    /** Registers an application whose webhooks are at `url`. */
    add: (id: string, url: string, ...args: string[]) => {
      const webhooks = Object.entries(webhooksAt(url)).flatMap(([name, address]) => [
        `--${name.replaceAll('_', '-')}`,
        address,
      ]);
      const token = ['--access-token-file', join(home, 'token')];
      const settings = ['--name', `The ${id}`, '--every', '30d', '--rate', '10000'];
      return ask('app', 'add', id, ...webhooks, ...token, ...settings, ...args);
    },
  };
};
