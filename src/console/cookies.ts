/** Over https each cookie of a site is `Secure` and belongs to its host alone (`__Host-`). */
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    /** The public address of the site. */
    siteUrl: () => string;
  }
}

/** Does the browser reach the site over https? @param siteUrl its public address */
export const isSecure = (request: FastifyRequest, siteUrl: string): boolean =>
  siteUrl.startsWith('https:') || request.protocol === 'https';

/** @param name without the prefix */
export const cookieName = (request: FastifyRequest, siteUrl: string, name: string): string =>
  `${isSecure(request, siteUrl) ? '__Host-' : ''}${name}`;
