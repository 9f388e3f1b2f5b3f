import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { insertApplication, updateApplication } from '#db/queries/applications.ts';
import { type SampleApplication, startSampleApplication } from '#src/sample-application/start.ts';
import { sealAccessToken } from '#src/sealing/access-token.ts';
import type { KeyRing } from '#src/sealing/key-provider.ts';

const NAMES = [
  'Lantern Works',
  'Northwind Play',
  'Studio Mizu',
  'Copper Fox',
  'Tide & Ember',
  'Paper Moon',
  'Ninth Gate',
  'Salt Road',
];

const nameOf = (index: number): string => NAMES[index] ?? `Sample Application ${index + 1}`;
const idOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const portsSchema = z.record(z.string(), z.int());

/**
 * The ports the sample applications had the last time: picture addresses hold them, so the same ports make the
 * same games, and a second demo finds everything unchanged.
 */
const readPorts = async (file: string): Promise<Record<string, number>> => {
  try {
    return portsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return {};
  }
};

const startOne = async (
  name: string,
  games: number,
  port: number,
): Promise<SampleApplication & { accessToken: string }> => {
  const accessToken = randomBytes(32).toString('base64url');
  const options = { accessToken, games, seed: name };
  try {
    return { ...(await startSampleApplication({ ...options, port })), accessToken };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return { ...(await startSampleApplication({ ...options, port: 0 })), accessToken };
  }
};

const MINUTE_MS = 60_000;
const SETTINGS = {
  every_ms: 15 * MINUTE_MS,
  kyc_every_ms: 24 * 60 * MINUTE_MS,
  detail_max_age_ms: 24 * 60 * MINUTE_MS,
  concurrency: 8,
  rate: 200,
};

export type DemoApplication = { application_id: string; name: string; server: SampleApplication };

/** Start sample applications as real HTTP servers, to be closed by the stack, and register them (again). */
export const startDemoApplications = async (
  sql: Database,
  keys: KeyRing,
  options: { home: string; applications: number; games: number },
  stack: AsyncDisposableStack,
): Promise<DemoApplication[]> => {
  const file = join(options.home, 'demo.json');
  const ports = await readPorts(file);
  const started: DemoApplication[] = [];
  for (let index = 0; index < options.applications; index += 1) {
    const name = nameOf(index);
    const application_id = idOf(name);
    const { accessToken, ...server } = await startOne(name, options.games, ports[application_id] ?? 0);
    stack.defer(() => server.close());
    ports[application_id] = Number(new URL(server.url).port);
    const settings = {
      ...SETTINGS,
      name,
      query_game_list_webhook: server.webhooks.query_game_list,
      query_game_detail_webhook: server.webhooks.query_game_detail,
      query_cp_kyc_webhook: server.webhooks.query_cp_kyc,
    };
    const sealed = await sealAccessToken(keys, application_id, accessToken);
    const isNew = await insertApplication(sql, application_id, settings, sealed);
    if (!isNew) await updateApplication(sql, application_id, { ...settings, ...sealed });
    started.push({ application_id, name, server });
  }
  await writeFile(file, JSON.stringify(ports));
  return started;
};
