/** Sign-in at an OpenID Connect provider: code flow with PKCE, state and nonce, by openid-client. */
import { normalizeIP } from '@fastify/rate-limit';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { Database, Queryable } from '#db/client.ts';
import type { Actor } from '#db/queries/audit.ts';
import {
  insertOperator,
  lockOperatorBySubject,
  type OperatorRow,
  rolesGained,
  startCounting,
  updateOperator,
} from '#db/queries/operators.ts';
import { deleteSessionsOf, insertOidcFlow, type OidcFlow, takeOidcFlow } from '#db/queries/sign-in.ts';
import type { Role, Site } from '#src/contract/roles.ts';
import { CatalogueError } from '#src/errors.ts';
import { takeFreshCheck } from '#src/identity/confirm.ts';
import {
  isSubject,
  joinClaims,
  loginOf,
  nameOf,
  type RoleSettings,
  rolesOf,
} from '#src/identity/oidc-claims.ts';
import { createDiscovery, type OidcClient } from '#src/identity/oidc-discovery.ts';
import { recordRefusedSignIn } from '#src/identity/refusals.ts';
import { createSecret, hashSecret } from '#src/identity/secrets.ts';
import {
  countAttempt,
  countSignIn,
  openSession,
  recordOperator,
  TooManySignInsError,
} from '#src/identity/sign-in.ts';

export type OidcSettings = RoleSettings & OidcClient;

const FLOW_LIFETIME_MS = 10 * 60_000;
/** Sign-ins that one address may begin within the window of attempts. Each is a row until it expires. */
export const BEGINS_MAX = 100;
const CALLBACK_PATH = '/sign-in/oidc/callback';

/** Roles that come with a sign-in are set by the provider. */
const PROVIDER: Actor = { actor: 'OIDC provider', actor_kind: 'system' };

const NOT_SIGNED_IN = 'The provider did not confirm the sign-in: sign in again.';

const NO_SUBJECT = 'The provider did not say who you are in at most 255 letters, digits and signs of ASCII.';
const LOGIN =
  'a verified e-mail address, or a preferred_username that is none, of at most 100 of a-z 0-9 . _ @ + - alone';
const NO_LOGIN = `Your provider gives no login: ${LOGIN}. Ask who manages your account there.`;

/** Updates the roles and the name of a known operator. A change of roles is written to the audit log. */
const updateKnown = async (
  tx: Queryable,
  { login, roles: from, name: formerName }: OperatorRow,
  roles: Role[],
  name = formerName,
): Promise<void> => {
  await updateOperator(tx, login, { roles, name });
  const added = rolesGained(roles, from);
  if (added.length > 0) await startCounting(tx, login, added, false);
  if (from.join() === roles.join()) return;
  await recordOperator(tx, PROVIDER, 'operator.roles', login, { from, to: roles });
};

/**
 * Finds or adds the operator of this subject, with the roles of this sign-in. The KYC desk gives the role of an officer
 * only, and the console the others: another new role comes with the next sign-in at the other site.
 * @returns the login, or why the person is refused
 */
const admit = async (
  tx: Queryable,
  { subject, claims, site }: { subject: string; claims: Record<string, unknown>; site: Site },
  granted: Role[],
): Promise<{ login: string; refusal?: undefined } | { login: string | null; refusal: string }> => {
  if (!isSubject(claims.sub)) return { login: null, refusal: NO_SUBJECT };
  const known = await lockOperatorBySubject(tx, subject);
  const roles = granted.filter(
    (role) => (role === 'kyc_officer') === (site === 'kyc_desk') || known?.roles.includes(role),
  );
  const login = known?.login ?? loginOf(claims);
  if (login === undefined) return { login: null, refusal: NO_LOGIN };
  if (roles.length === 0) {
    if (known !== undefined) {
      await updateKnown(tx, known, roles);
      await deleteSessionsOf(tx, login);
    }
    const other = site === 'console' ? 'the KYC desk' : 'the console';
    const refusal =
      granted.length === 0
        ? 'None of your groups has a role here: ask an administrator.'
        : `Your groups have roles at ${other}: sign in there first.`;
    return { login, refusal };
  }
  if (known?.status === 'disabled')
    return { login, refusal: 'Your access is disabled: ask an administrator.' };
  const name = nameOf(claims, login);
  if (known !== undefined) {
    await updateKnown(tx, known, roles, name);
    return { login };
  }
  if (!(await insertOperator(tx, { login, name, roles, oidc_subject: subject }))) {
    const refusal = `There is already an operator ${login} who signs in another way: ask an administrator.`;
    return { login, refusal };
  }
  await recordOperator(tx, PROVIDER, 'operator.add', login, { name, roles });
  return { login };
};

/**
 * Exchanges the code of a callback for the claims of the ID token and of userinfo.
 * @throws if the provider does not confirm the sign-in
 */
const readClaims = async (
  configuration: Configuration,
  clientId: string,
  callback: URL,
  { state, nonce, code_verifier }: OidcFlow,
): Promise<{ subject: string; claims: Record<string, unknown> }> => {
  const tokens = await authorizationCodeGrant(configuration, callback, {
    pkceCodeVerifier: code_verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  const confirmed = tokens.claims();
  if (confirmed === undefined) throw new Error('there is no ID token');
  // OpenID Connect Core, 3.1.3.7: openid-client checks it only where there are several audiences.
  if (confirmed.azp !== undefined && confirmed.azp !== clientId)
    throw new Error('the ID token was issued to another client');
  const { userinfo_endpoint, issuer } = configuration.serverMetadata();
  const more =
    userinfo_endpoint === undefined
      ? {}
      : await fetchUserInfo(configuration, tokens.access_token, confirmed.sub);
  return { subject: `${issuer} ${confirmed.sub}`, claims: joinClaims(more, confirmed) };
};

/** Signs operators in at one provider. It is contacted at the first sign-in, and again after a failure. */
export const createOidc = (sql: Database, settings: OidcSettings, site: Site, siteUrl: string) => {
  const configure = createDiscovery(settings);
  return {
    /**
     * @param again whether the provider requests the credentials even if the person is signed in there
     * @returns the provider's address, and the secret of the flow for a cookie
     * @throws TooManySignInsError if too many begin at this address, CatalogueError if the provider does not answer
     */
    begin: async (next: string, address: string, again = false): Promise<{ url: string; flow: string }> => {
      const waitSeconds = await countAttempt(sql, [`oidc:${normalizeIP(address)}`], BEGINS_MAX);
      if (waitSeconds > 0) throw new TooManySignInsError(waitSeconds);
      const configuration = await configure();
      const flow = createSecret();
      const code_verifier = randomPKCECodeVerifier();
      const state = randomState();
      const nonce = randomNonce();
      await insertOidcFlow(
        sql,
        hashSecret(flow),
        site,
        { state, nonce, code_verifier, next },
        FLOW_LIFETIME_MS,
      );
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: new URL(CALLBACK_PATH, siteUrl).href,
        scope: 'openid profile email',
        code_challenge: await calculatePKCECodeChallenge(code_verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        ...(again && { max_age: '0', prompt: 'login' }),
      });
      return { url: url.href, flow };
    },

    /**
     * @param query of the request to the callback
     * @returns the session and where to go
     * @throws TooManySignInsError, or CatalogueError that names why the person is refused
     */
    finish: async (
      flow: string | undefined,
      query: string,
      address: string,
    ): Promise<{ session: string; next: string }> => {
      const begun = flow === undefined ? undefined : await takeOidcFlow(sql, hashSecret(flow), site);
      if (begun === undefined) throw new CatalogueError('This sign-in took too long: sign in again.');
      const configuration = await configure();
      const callback = new URL(`${CALLBACK_PATH}${query}`, siteUrl);
      const { subject, claims } = await readClaims(configuration, settings.clientId, callback, begun).catch(
        async (error: unknown) => {
          await recordRefusedSignIn(sql, null, 'the OIDC provider did not confirm the sign-in', address);
          throw new CatalogueError(NOT_SIGNED_IN, { cause: error });
        },
      );
      const result = await sql.begin(
        async (tx): Promise<{ session: string } | { refused: CatalogueError }> => {
          const { login, refusal } = await admit(tx, { subject, claims, site }, rolesOf(settings, claims));
          if (refusal !== undefined) {
            await recordRefusedSignIn(tx, login, refusal, address);
            return { refused: new CatalogueError(refusal) };
          }
          const waitSeconds = await countSignIn(tx, login);
          if (waitSeconds > 0) return { refused: new TooManySignInsError(waitSeconds) };
          const confirmed = await takeFreshCheck(tx, login, claims.auth_time);
          return { session: await openSession(tx, { login, by: 'oidc', site, address, confirmed }) };
        },
      );
      // Thrown after the commit, which keeps the entry of the audit log.
      if ('refused' in result) throw result.refused;
      return { session: result.session, next: begun.next };
    },
  };
};
