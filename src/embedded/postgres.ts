import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { openDatabase } from '#db/client.ts';
import { createCluster } from '#src/embedded/cluster.ts';
import { lockDirectory } from '#src/embedded/lock.ts';
import { openPlace } from '#src/embedded/place.ts';
import { type StartOptions, startPostmaster } from '#src/embedded/postmaster.ts';
import { CatalogueError, coerceError } from '#src/errors.ts';

export type EmbeddedInstance = {
  /** Superuser, password and database included. */
  databaseUrl: string;
  /** Ends Postgres in good order. May be called twice. */
  stop(): Promise<void>;
  /** Resolves if Postgres ends though nobody called `stop`: nothing works any more. */
  lost: Promise<void>;
};

/** `instance.json`: there while the instance runs, for the commands of other processes; `pid` is its owner's. */
const instanceSchema = z.object({ databaseUrl: z.string(), pid: z.number() });
const instanceFile = (home: string): string => join(home, 'instance.json');

/**
 * Starts the Postgres of one home (design, section 2), creating it at the first start: on 127.0.0.1, a free
 * port and a password of its own. What an owner killed with SIGKILL left behind is recovered. No signal
 * handler is registered: who starts it stops it.
 *
 * @param options.home the directory that holds everything of this instance (CATALOGUE_HOME)
 * @param options.settings Postgres settings to add to ours, by name; the defaults are durable
 * @throws CatalogueError, with exit code 4 when a live process runs this home's instance already
 */
export const startEmbeddedPostgres = async (options: {
  home: string;
  onProgress?: (message: string) => void;
  settings?: Record<string, string>;
}): Promise<EmbeddedInstance> => {
  const { onProgress = () => {}, settings = {} } = options;
  const home = resolve(options.home);
  try {
    return await start(home, { onProgress, settings });
  } catch (thrown) {
    const cause = coerceError(thrown);
    if (cause instanceof CatalogueError) throw cause;
    throw new CatalogueError(
      `Embedded Postgres did not start in ${home}: ${cause.message}. Set CATALOGUE_HOME to another directory, or DATABASE_URL to a server of your own.`,
      { cause },
    );
  }
};

const start = async (home: string, options: StartOptions): Promise<EmbeddedInstance> => {
  const place = await openPlace(home, options.onProgress);
  const lock = await lockDirectory(place.directory);
  try {
    await createCluster(place, { sync: options.settings.fsync !== 'off', onProgress: options.onProgress });
    const postmaster = await startPostmaster(place, options);
    const stop = async () => {
      await rm(instanceFile(home), { force: true });
      await postmaster.stop();
      lock.release();
    };
    try {
      await writeInstance(home, postmaster.databaseUrl);
    } catch (error) {
      await stop();
      throw error;
    }
    let stopping: Promise<void> | undefined;
    const lost = new Promise<void>((resolve) => {
      postmaster.ended.then(() => stopping ?? resolve());
    });
    return {
      databaseUrl: postmaster.databaseUrl,
      lost,
      stop: () => {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
};

/** Complete or not at all: another process may read it at any moment. */
const writeInstance = async (home: string, databaseUrl: string): Promise<void> => {
  const draft = `${instanceFile(home)}.draft`;
  await rm(draft, { force: true });
  await writeFile(draft, JSON.stringify({ databaseUrl, pid: process.pid }), { mode: 0o600 });
  await rename(draft, instanceFile(home));
};

/** The database URL of this home's instance if one runs and answers, whoever started it; else null. */
export const findRunningInstance = async (home: string): Promise<string | null> => {
  try {
    const { databaseUrl } = instanceSchema.parse(JSON.parse(await readFile(instanceFile(home), 'utf8')));
    return (await answers(databaseUrl)) ? databaseUrl : null;
  } catch {
    return null;
  }
};

const answers = async (databaseUrl: string): Promise<boolean> => {
  const sql = openDatabase(databaseUrl, { max: 1 });
  try {
    await sql`select 1`;
    return true;
  } finally {
    await sql.end();
  }
};
