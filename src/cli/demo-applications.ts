import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import { insertApplication, updateApplication } from '#db/queries/applications.ts';
import { DEFAULTS } from '#src/cli/app-settings.ts';
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

const portsSchema = z.record(z.string(), z.int());

/** Reads the ports of the last demo. Picture URLs contain the port: on the same ports, a second demo finds no change. */
const readPorts = async (file: string): Promise<Record<string, number>> => {
  try {
    return portsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return {};
  }
};

/** Starts a sample application on this port, or on a free one if it is in use. */
const startServer = async (port: number, options: { accessToken: string; games: number; seed: string }) => {
  try {
    return await startSampleApplication({ ...options, port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startSampleApplication({ ...options, port: 0 });
  }
};

export type DemoApplication = { application_id: string; name: string; server: SampleApplication };

/** Starts sample applications as HTTP servers and registers them, or updates the ones of the last demo. */
export const startDemoApplications = async (
  sql: Database,
  keys: KeyRing,
  { home, applications, games }: { home: string; applications: number; games: number },
  resources: AsyncDisposableStack,
): Promise<DemoApplication[]> => {
  const file = join(home, 'demo.json');
  const ports = await readPorts(file);
  const started: DemoApplication[] = [];
  for (let index = 0; index < applications; index += 1) {
    const name = NAMES[index] ?? `Sample Application ${index + 1}`;
    const application_id = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    const accessToken = randomBytes(32).toString('base64url');
    const server = await startServer(ports[application_id] ?? 0, { accessToken, games, seed: name });
    resources.defer(() => server.close());
    ports[application_id] = Number(new URL(server.url).port);
    const settings = {
      ...DEFAULTS,
      // The default rate would slow the demo down.
      rate: 200,
      name,
      query_game_list_webhook: server.webhooks.query_game_list,
      query_game_detail_webhook: server.webhooks.query_game_detail,
      query_cp_kyc_webhook: server.webhooks.query_cp_kyc,
    };
    const token = await sealAccessToken(keys, application_id, accessToken);
    const isNew = await insertApplication(sql, application_id, settings, token);
    if (!isNew) await updateApplication(sql, application_id, { ...settings, ...token });
    started.push({ application_id, name, server });
  }
  await writeFile(file, JSON.stringify(ports));
  return started;
};
