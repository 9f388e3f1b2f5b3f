import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { UsageError } from '#src/errors.ts';

/** Stops listening and answers the open calls. Connections close after their answer instead of staying alive. */
export const stopListening = async (app: FastifyInstance): Promise<void> => {
  app.server.keepAliveTimeout = 1;
  await app.close();
};

/**
 * @param variable the variable of the port, for the message; that of the host ends in HOST
 * @returns the address as a URL that a browser on this machine can open
 * @throws UsageError if it cannot listen there
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
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      throw new UsageError(
        `Port ${port} of ${host} is in use: stop the process that listens there, or set ${variable} to another port.`,
        { cause: error },
      );
    }
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `Cannot listen at ${host}, port ${port} (${code}): set ${variable.replace(/PORT$/, 'HOST')} to an address of this machine and ${variable} to a port this user may take.`,
      { cause: error },
    );
  }
  const bound = app.server.address();
  const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${boundPort}`;
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
