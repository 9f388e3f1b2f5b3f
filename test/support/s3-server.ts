import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openS3Store } from '#src/picture-store/s3-store.ts';
import type { PictureStore } from '#src/picture-store/store.ts';

const PROGRAM = fileURLToPath(new URL('./s3-process.ts', import.meta.url));
const BUCKET = 'pictures';
/** Those of s3rver. */
const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

export type S3Server = {
  endpoint: string;
  bucket: string;
  /** The variables with which the client of AWS finds it. */
  env: Record<string, string>;
  open: (prefix?: string, credentials?: typeof CREDENTIALS) => PictureStore;
  /** Ends it at once, as a machine that fails. Its files stay. */
  kill: () => Promise<void>;
  start: () => Promise<void>;
  close: () => Promise<void>;
};

/** Starts a server of the S3 protocol with one bucket. */
export const startS3Server = async (): Promise<S3Server> => {
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-s3-'));
  let child: ChildProcess | undefined;
  let port = 0;
  const start = async (): Promise<void> => {
    const started = fork(PROGRAM, [directory, String(port), BUCKET], {
      // It marks pages of a listing with DES.
      execArgv: ['--openssl-legacy-provider'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child = started;
    const [{ port: bound }] = (await once(started, 'message')) as [{ port: number }];
    port = bound;
  };
  const kill = async (): Promise<void> => {
    const running = child;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  };
  await start();
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    endpoint,
    bucket: BUCKET,
    env: {
      AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
      AWS_REGION: 'us-east-1',
    },
    open: (prefix = 'store/', credentials = CREDENTIALS) =>
      openS3Store({ kind: 's3', bucket: BUCKET, prefix, endpoint }, { region: 'us-east-1', credentials }),
    kill,
    start,
    close: async () => {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
