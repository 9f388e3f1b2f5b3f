import { addressOf } from '#src/config.ts';
import { buildConsole } from '#src/console/app.ts';
import { describeSinglePersonActions } from '#src/operations/second-person.ts';
import type { StartPart } from '#src/processes/fleet-part.ts';
import { openFoundation } from '#src/processes/foundation.ts';
import { listen, stopListening } from '#src/processes/listen.ts';

const DATABASE_CONNECTIONS = 10;

/** Starts the web console, with Bull Board for every queue of the fleet. */
export const startConsole: StartPart = async (config, databaseUrl, logger) => {
  const { host, port, trustedProxies, oidc, isPublic, contact } = config.console;
  let { url } = config.console;
  await using started = new AsyncDisposableStack();
  const { sql, producer } = started.use(
    openFoundation(config, databaseUrl, {
      use: 'worker',
      name: 'console',
      maxConnections: DATABASE_CONNECTIONS,
      logger,
    }),
  );
  const warning = describeSinglePersonActions(config.fourEyes);
  if (warning !== null) logger.warn(warning);
  const app = await buildConsole({
    sql,
    producer,
    url: () => url,
    kycDeskUrl: addressOf(config.kycDesk),
    contact,
    trustedProxies,
    oidc,
    fourEyes: config.fourEyes,
    keepsPictures: config.pictures.store !== undefined,
    logger,
  });
  started.defer(() => stopListening(app));
  const address = await listen(app, host, port, 'CONSOLE_PORT');
  if (!isPublic) url = address;
  const all = started.move();
  return { name: 'console', address, sql, stop: () => all.disposeAsync() };
};
