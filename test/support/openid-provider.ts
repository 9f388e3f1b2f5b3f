import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Page } from 'playwright-core';
import type { OidcSettings } from '#src/identity/oidc.ts';

/** How a client proves its secret at the token endpoint. */
export type ClientAuthMethod = 'client_secret_post' | 'client_secret_basic';

export type TestProvider = {
  /** For a console that signs in here. */
  settings: OidcSettings;
  /** The groups of each person; the provider's sign-in page takes any name. */
  groups: Map<string, string[]>;
  /** Begins to answer, for a console at this address. */
  serve: (consoleUrl: string) => void;
  stop: () => Promise<void>;
};

const SECRET = 'a secret of the client, + % & ~';

/** Starts an OpenID provider. Its host, localhost, is another site than the console's 127.0.0.1. */
export const startProvider = async (method: ClientAuthMethod): Promise<TestProvider> => {
  let answer: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const groups = new Map<string, string[]>();
  return {
    settings: {
      issuer,
      clientId: 'catalogue',
      clientSecret: SECRET,
      rolesClaim: 'groups',
      roles: new Map([
        ['games-team', ['reviewer']],
        ['games-leads', ['admin']],
      ]),
    },
    groups,
    serve: (consoleUrl) => {
      answer = new Provider(issuer, {
        clients: [
          {
            client_id: 'catalogue',
            client_secret: SECRET,
            redirect_uris: [`${consoleUrl}/sign-in/oidc/callback`],
            token_endpoint_auth_method: method,
          },
        ],
        clientAuthMethods: [method],
        pkce: { required: () => true },
        claims: { openid: ['sub', 'groups'], profile: ['name'], email: ['email', 'email_verified'] },
        cookies: { keys: ['a key of the tests'] },
        findAccount: (_context: unknown, name: string) => ({
          accountId: name,
          claims: () => ({
            sub: name,
            name: `${name} of the provider`,
            email: `${name}@games.example`,
            email_verified: true,
            groups: groups.get(name) ?? [],
          }),
        }),
      }).callback();
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

/** Follows the sign-in page's link to the provider. */
export const goToProvider = async (page: Page, consoleUrl: string, next = '/'): Promise<void> => {
  // The provider's own page loads a font from another host.
  await page.route(/^https:/, (route) => route.abort());
  await page.goto(`${consoleUrl}/sign-in?next=${encodeURIComponent(next)}`);
  await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
  await page.getByPlaceholder('Enter any login').waitFor();
};

/** Signs in at the provider, agrees, and waits until the browser is back. */
export const signInAtProvider = async (
  page: Page,
  consoleUrl: string,
  name: string,
  next = '/',
): Promise<void> => {
  await goToProvider(page, consoleUrl, next);
  await page.getByPlaceholder('Enter any login').fill(name);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL((url) => url.origin === consoleUrl);
};
