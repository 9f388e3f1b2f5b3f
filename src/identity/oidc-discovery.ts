/** The configuration of an OpenID Connect provider, as openid-client discovers it. */
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
} from 'openid-client';
import { CatalogueError } from '#src/errors.ts';
import { ANSWER_BOUNDS } from '#src/identity/oidc-answers.ts';

/** The platform as a client of the provider. */
export type OidcClient = { issuer: string; clientId: string; clientSecret: string };

/** A provider that does not list its methods takes HTTP Basic (OpenID Connect Discovery 1.0, section 3). */
const authenticateBy = (secret: string): ClientAuth => {
  const [post, basic] = [ClientSecretPost(secret), ClientSecretBasic(secret)];
  return (server, ...request) => {
    const takesPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post');
    return (takesPost ? post : basic)(server, ...request);
  };
};

/**
 * Creates a function that returns the configuration. It contacts the provider at the first call, and again after a failure.
 * @returns the function, which throws CatalogueError if the provider does not answer, or is that of many organisations
 */
export const createDiscovery = (client: OidcClient): (() => Promise<Configuration>) => {
  let discovered: Promise<Configuration> | undefined;
  return () => {
    const issuer = new URL(client.issuer);
    discovered ??= discovery(issuer, client.clientId, undefined, authenticateBy(client.clientSecret), {
      ...ANSWER_BOUNDS,
      // By default openid-client trusts TLS for the signature of an ID token. The configuration accepts http for loopback
      // issuers only.
      execute: [enableNonRepudiationChecks, ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : [])],
    }).catch((error: unknown) => {
      discovered = undefined;
      throw new CatalogueError('The OIDC provider does not answer: retry later, or sign in by password.', {
        cause: error,
      });
    });
    return discovered.then((configuration) => {
      // openid-client accepts this issuer for Microsoft Entra ID, and then ID tokens of every tenant.
      if (configuration.serverMetadata().issuer.includes('{tenantid}'))
        throw new CatalogueError(
          'OIDC_ISSUER is that of many organisations: an administrator must name one.',
        );
      return configuration;
    });
  };
};
