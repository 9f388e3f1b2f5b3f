import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Database } from '#db/client.ts';
import {
  type ApplicationSettings,
  findApplication,
  insertApplication,
  updateApplication,
} from '#db/queries/applications.ts';
import type { Config } from '#src/config.ts';
import { applicationSettings, toColumns } from '#src/contract/application-settings.ts';
import { SETTING_DEFAULTS } from '#src/contract/words.ts';
import { createAddressSigner } from '#src/sample-application/signer.ts';
import {
  type SampleApplication,
  type SampleApplicationOptions,
  startSampleApplication,
} from '#src/sample-application/start.ts';
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

/** This application signs the addresses of its pictures in each response, which changes no game. */
const SIGNING = 'Northwind Play';
const WEEK_S = 7 * 24 * 60 * 60;

/** The content of `demo.json`: the last demo. Its ports are used again, because other ports in URLs would change games. */
const stateSchema = z.object({ games: z.int(), ports: z.record(z.string(), z.int()) });
type DemoState = z.infer<typeof stateSchema>;

const stateFile = (home: string): string => join(home, 'demo.json');

const readState = async (home: string): Promise<DemoState | undefined> => {
  try {
    return stateSchema.parse(JSON.parse(await readFile(stateFile(home), 'utf8')));
  } catch {
    return undefined;
  }
};

/** Lets this process call sample applications, which listen on this machine without TLS. */
export const allowSampleApplications = (config: Config): Config => ({
  ...config,
  webhooks: {
    ...config.webhooks,
    allowHttp: true,
    ports: [],
    allowNetworks: [...config.webhooks.allowNetworks, '127.0.0.0/8', '::1/128'],
  },
});

/** Starts a sample application on this port, or on a free one if it is in use. */
const startServer = async (port: number, options: SampleApplicationOptions) => {
  try {
    return await startSampleApplication({ ...options, port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return startSampleApplication({ ...options, port: 0 });
  }
};

export type DemoApplication = { application_id: string; name: string; server: SampleApplication };

const idOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** Starts a sample application as an HTTP server and registers it, or updates the one of the last demo. */
const startOne = async (
  sql: Database,
  keys: KeyRing,
  sample: { application_id: string; name: string; games: number; port: number },
  resources: AsyncDisposableStack,
): Promise<DemoApplication> => {
  const { application_id, name, games, port } = sample;
  const accessToken = randomBytes(32).toString('base64url');
  const signer = name === SIGNING ? createAddressSigner(WEEK_S, application_id) : undefined;
  const server = await startServer(port, { accessToken, games, seed: name, signer });
  resources.defer(() => server.close());
  const webhooks = {
    query_game_list_webhook: server.webhooks.query_game_list,
    query_game_detail_webhook: server.webhooks.query_game_detail,
    query_cp_kyc_webhook: server.webhooks.query_cp_kyc,
  };
  const token = await sealAccessToken(keys, { application_id, ...webhooks }, accessToken);
  // The default rate would slow the demo down.
  const defaults = toColumns(applicationSettings.partial().parse(SETTING_DEFAULTS));
  const settings = { ...defaults, rate: 200, name, ...webhooks } as ApplicationSettings;
  const isNew = await insertApplication(sql, application_id, settings, token, true);
  if (!isNew) await updateApplication(sql, application_id, { ...webhooks, ...token });
  return { application_id, name, server };
};

/** Starts sample applications for the demo. */
export const startDemoApplications = async (
  sql: Database,
  keys: KeyRing,
  { home, applications, games }: { home: string; applications: number; games: number },
  resources: AsyncDisposableStack,
): Promise<DemoApplication[]> => {
  const ports = (await readState(home))?.ports ?? {};
  const started: DemoApplication[] = [];
  for (let index = 0; index < applications; index += 1) {
    const name = NAMES[index] ?? `Sample Application ${index + 1}`;
    const application_id = idOf(name);
    const port = ports[application_id] ?? 0;
    const each = await startOne(sql, keys, { application_id, name, games, port }, resources);
    ports[application_id] = Number(new URL(each.server.url).port);
    started.push(each);
  }
  await writeFile(stateFile(home), JSON.stringify({ games, ports } satisfies DemoState));
  return started;
};

/** Did a demo run in this home? */
export const hadDemo = async (home: string): Promise<boolean> => (await readState(home)) !== undefined;

/** Restarts the sample applications of the last demo in this home that are still registered. */
export const restartDemoApplications = async (
  sql: Database,
  keys: KeyRing,
  home: string,
  resources: AsyncDisposableStack,
): Promise<DemoApplication[]> => {
  const { games = 0, ports = {} } = (await readState(home)) ?? {};
  const started: DemoApplication[] = [];
  for (const [application_id, port] of Object.entries(ports)) {
    const registered = await findApplication(sql, application_id);
    if (registered === undefined) continue;
    const name = NAMES.find((each) => idOf(each) === application_id) ?? registered.name;
    started.push(await startOne(sql, keys, { application_id, name, games, port }, resources));
  }
  return started;
};
