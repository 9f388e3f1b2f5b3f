import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { UsageError } from '#src/errors.ts';

/**
 * Stop listening, answer what is in hand, and end. A connection whose call is still in hand would be kept for
 * further calls as long as any other: it is let go with its answer.
 */
export const stopListening = async (app: FastifyInstance): Promise<void> => {
  app.server.keepAliveTimeout = 1;
  await app.close();
};

/**
 * Listen, and say plainly when that cannot be.
 * @param variable the port's; the host's ends in HOST instead
 * @returns the address as a URL a person can open
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
        `Port ${port} of ${host} is taken: end what listens there, or set ${variable} to another.`,
        {
          cause: error,
        },
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

/** Could a server listen here at this moment? */
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
