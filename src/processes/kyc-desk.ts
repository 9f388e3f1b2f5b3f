import { openDatabase } from '#db/client.ts';
import { buildKycDesk } from '#src/kyc-desk/app.ts';
import { REVEAL_MS } from '#src/kyc-desk/options.ts';
import { describeSinglePersonActions } from '#src/operations/second-person.ts';
import type { StartPart } from '#src/processes/fleet-part.ts';
import { listen, stopListening } from '#src/processes/listen.ts';
import { openKeyRing } from '#src/sealing/key-ring.ts';

const DATABASE_CONNECTIONS = 5;
/** At shutdown, connections that are still busy after this time are closed. */
const CLOSE_S = 5;

/** Starts the KYC desk: the only web process that has keys. */
export const startKycDesk: StartPart = async (config, databaseUrl, logger) => {
  const { host, port, url: publicUrl } = config.kycDesk;
  const { fourEyes } = config;
  await using started = new AsyncDisposableStack();
  const sql = openDatabase(databaseUrl, { max: DATABASE_CONNECTIONS, applicationName: 'catalogue kyc-desk' });
  started.defer(() => sql.end({ timeout: CLOSE_S }));
  const keys = await openKeyRing(config);
  if (keys.records.length === 0)
    logger.warn('no key for KYC records: set ENCRYPTION_KEYS. Until then the desk opens none.');
  const warning = describeSinglePersonActions(fourEyes);
  if (warning !== null) logger.warn(warning);
  let address = '';
  const app = await buildKycDesk({
    sql,
    keys,
    fourEyes,
    keepsPictures: config.pictures.store !== undefined,
    url: () => publicUrl ?? address,
    trustedProxies: config.console.trustedProxies,
    // The provider returns the browser to a public address.
    oidc: publicUrl === undefined ? null : config.console.oidc,
    revealMs: REVEAL_MS,
    logger,
  });
  started.defer(() => stopListening(app));
  address = await listen(app, host, port, 'KYC_DESK_PORT');
  const all = started.move();
  return { name: 'kyc-desk', address, sql, stop: () => all.disposeAsync() };
};
