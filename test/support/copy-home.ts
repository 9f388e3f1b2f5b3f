import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Copies a home whose embedded Postgres is stopped, with the owners and modes of its files. */
export const copyHome = async (from: string, to: string): Promise<void> =>
  void (await promisify(execFile)('cp', ['-a', from, to]));
