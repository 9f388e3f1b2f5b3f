import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import type { ServersAnswer } from '#test/support/servers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's URL of the run's Postgres, for a database that no test uses. */
    adminDatabaseUrl: string;
    /** The clause after the name in `create database` that clones the migrated template. */
    templateClause: string;
    /** The run's Redis; null if redis-server is not installed. */
    redisUrl: string | null;
    /** A home whose embedded Postgres is initialised and stopped, to be copied. */
    initializedHome: string;
    /** The browser of the run; null if Chromium is not installed. */
    browserEndpoint: string | null;
  }
}

/**
 * Starts the servers that the tests share, once per run, in a process that stops them when its stdin closes: they end
 * with this process, also after Ctrl-C or SIGKILL.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const script = fileURLToPath(new URL('./servers.ts', import.meta.url));
  const servers = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(servers, 'exit');
  const stop = async () => {
    servers.stdin.end();
    await exit;
  };
  const line = once(createInterface(servers.stdout), 'line').then(([text]) => text as string);
  const silentEnd = exit.then(([code]) => Promise.reject(new Error(`The test servers ended with ${code}`)));
  const answer: ServersAnswer = JSON.parse(await Promise.race([line, silentEnd]));
  if ('error' in answer) {
    await stop();
    throw new Error(answer.error);
  }
  project.provide('adminDatabaseUrl', answer.adminDatabaseUrl);
  project.provide('templateClause', answer.templateClause);
  project.provide('redisUrl', answer.redisUrl);
  project.provide('initializedHome', answer.initializedHome);
  project.provide('browserEndpoint', answer.browserEndpoint);
  return stop;
};
