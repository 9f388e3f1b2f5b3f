import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { localUrl } from '#src/config-values.ts';
import { UsageError } from '#src/errors.ts';

/** Stops listening and answers the calls in progress. A connection closes after its response. */
export const stopListening = async (app: FastifyInstance): Promise<void> => {
  app.server.keepAliveTimeout = 1;
  await app.close();
};

/**
 * @param variable the environment variable of the port, for messages: `API_PORT`; that of the host is `API_HOST`
 * @returns a URL that works on this machine
 * @throws UsageError if the app cannot listen there
 */
export const listen = async (
  app: FastifyInstance,
  host: string,
  port: number,
  variable: string,
): Promise<string> => {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message =
      code === 'EADDRINUSE'
        ? `Port ${port} of ${host} is in use: stop the process that listens there, or set ${variable} to another port.`
        : `Cannot listen at ${host}, port ${port} (${code}): set ${variable.replace(/PORT$/, 'HOST')} to an address of this machine and ${variable} to a port this user may use.`;
    throw new UsageError(message, { cause: error });
  }
  const bound = app.server.address();
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  return localUrl(host, boundPort);
};

/** Can a server listen here now? */
export const isPortFree = async ({ host, port }: { host: string; port: number }): Promise<boolean> => {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
};
