import { dpopSigningAlgorithms, issuer } from '@fulfilment/contracts';
import Provider, { type ClientAuthMethod, type Configuration } from 'oidc-provider';
import type { KeySet } from '../keys/signing-keys.js';
import { sendError, sendLoggedOutPage, sendLogoutPage } from '../pages/provider-pages.js';
import { accountClient } from '../registration/account-client.js';
import { endTokensWithSession } from '../sessions/end-tokens-with-session.js';
import { shouldRevokeFamily } from '../tokens/reuse/reuse.js';
import { AccessTokenSigner, useSignedAccessTokens } from './access-tokens/access-tokens.js';
import { LocalSigningKey } from './access-tokens/signing-key.js';
import { adapterFactory } from './adapter.js';
import {
  ignoreResponseModeOfErrors,
  knownScopes,
  splitScope,
  validateAuthorizationRequest,
} from './authorization/authorization-request.js';
import { cookieSettings } from './authorization/cookies.js';
import { extendGrantPayload } from './authorization/grants.js';
import { buildInteractionPolicy } from './authorization/interaction-policy.js';
import { validateClientMetadata } from './clients/validate-client-metadata.js';
import { isOriginOfClient } from './clients/cors.rules.js';
import { claimsOfScopes, currentOrganisationClaims, findAccount } from './find-account.js';
import { allowIntrospection } from './introspection/introspection-policy.js';
import { grantLifetimeSeconds, lifetimeSeconds, refreshTokenLifetimeSeconds } from './lifetimes.rules.js';
import { addMiddleware } from './middleware.js';
import type { ProviderDependencies } from './provider-dependencies.js';

/**
 * The whole wiring of oidc-provider. A new provider is built over the same storage whenever the keys change.
 */
export function buildProvider(keySet: KeySet, dependencies: ProviderDependencies): Provider {
  const { config } = dependencies;
  const provider = new Provider(issuer(config.AUTH_URL), {
    ...identity(keySet, dependencies),
    ...protocol(dependencies),
    features: features(dependencies),
    ...accountsAndInteractions(dependencies),
    adapter: adapterFactory(dependencies),
  });
  provider.proxy = true; // mount.ts makes the forwarded headers trustworthy
  provider.maxIpsCount = 1; // the address that the gateway saw
  useSignedAccessTokens(provider, new AccessTokenSigner(config, keySet));
  extendGrantPayload(provider);
  endTokensWithSession(provider, dependencies.unitOfWork);
  ignoreResponseModeOfErrors(provider);
  addMiddleware(provider, dependencies);
  return provider;
}

const clientAuthMethods: ClientAuthMethod[] = ['none', 'client_secret_basic', 'client_secret_post'];

/** Issuer identity: keys, cookies, routes and metadata. */
function identity({ keys }: KeySet, { config }: ProviderDependencies): Configuration {
  return {
    jwks: { keys: keys.map(({ jwk }) => new LocalSigningKey(jwk)) },
    clients: [accountClient(config.AUTH_URL)],
    cookies: cookieSettings(config),
    routes: {
      authorization: '/oauth2/authorize',
      token: '/oauth2/token',
      registration: '/oauth2/register',
      userinfo: '/oauth2/userinfo',
      introspection: '/oauth2/introspect',
      revocation: '/oauth2/revoke',
      end_session: '/oauth2/end-session',
      pushed_authorization_request: '/oauth2/par',
      jwks: '/jwks',
    },
    discovery: {
      introspection_endpoint_auth_methods_supported: clientAuthMethods,
      revocation_endpoint_auth_methods_supported: clientAuthMethods,
    },
  };
}

/** OAuth 2.1: code with PKCE for every client, exact redirects, rotating refresh tokens, no implicit flow. */
function protocol({ responseTimestamps, clock, unitOfWork }: ProviderDependencies): Configuration {
  return {
    scopes: knownScopes,
    responseTypes: ['code'],
    subjectTypes: ['public'],
    clientAuthMethods,
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx, client, { scopes }) =>
      client.grantTypeAllowed('refresh_token') && scopes.has('offline_access'),
    revokeGrantPolicy: shouldRevokeFamily(responseTimestamps, unitOfWork),
    expiresWithSession: () => false, // endTokensWithSession ends what belongs to a session
    enabledJWA: {
      idTokenSigningAlgValues: ['ES256', 'RS256'],
      dPoPSigningAlgValues: [...dpopSigningAlgorithms],
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientBasedCORS: (_ctx, origin, client) => isOriginOfClient(origin, client.redirectUris ?? []),
    // Validates the whole request, not only `creator`: oidc-provider calls this hook in every authorization
    // request, with or without the parameter.
    extraParams: { creator: validateAuthorizationRequest },
    extraClientMetadata: {
      properties: ['first_party', 'resource_server', 'verified'],
      validator: validateClientMetadata,
    },
    ttl: {
      AuthorizationCode: lifetimeSeconds.authorizationCode,
      AccessToken: lifetimeSeconds.accessToken,
      IdToken: lifetimeSeconds.idToken,
      RefreshToken: (_ctx, token) => {
        const now = Math.floor(clock().getTime() / 1000);
        const familyStartedAt = token.iiat ?? now; // when the first refresh token was issued
        return refreshTokenLifetimeSeconds(familyStartedAt, now);
      },
      Grant: (_ctx, grant) => grantLifetimeSeconds(splitScope(grant.getOIDCScope())),
      // Anyone can create a session without a person, by a cookie or a request for a sign-out.
      Session: (_ctx, { accountId }) =>
        accountId === undefined ? lifetimeSeconds.interaction : lifetimeSeconds.session,
      Interaction: lifetimeSeconds.interaction,
    },
    renderError: sendError,
  };
}

/** The endpoints and extensions beyond the code flow. */
function features({ rejectionAudit }: ProviderDependencies): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    claimsParameter: { enabled: false },
    resourceIndicators: { enabled: false }, // one token for both APIs and UserInfo: access-tokens.ts
    registration: { enabled: true, initialAccessToken: false },
    registrationManagement: { enabled: true, rotateRegistrationAccessToken: true },
    introspection: { enabled: true, allowedPolicy: allowIntrospection(rejectionAudit) },
    revocation: { enabled: true, allowedPolicy: (_ctx, { clientId }, token) => token.clientId === clientId },
    pushedAuthorizationRequests: { enabled: true },
    dPoP: { enabled: true },
    externalSigningSupport: { enabled: true, ack: 'experimental-01' }, // signing-key.ts
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: sendLogoutPage,
      postLogoutSuccessSource: sendLoggedOutPage,
    },
  };
}

/** Accounts, their claims, and the interactions of a sign-in. */
function accountsAndInteractions(dependencies: ProviderDependencies): Configuration {
  const { accounts, storedRows, unitOfWork, grants, factors } = dependencies;
  return {
    findAccount: findAccount(accounts, storedRows, unitOfWork),
    extraTokenClaims: currentOrganisationClaims,
    claims: claimsOfScopes,
    loadExistingGrant: (ctx) => grants.load(ctx),
    interactions: {
      policy: buildInteractionPolicy(accounts, factors),
      url: (_ctx, { uid }) => `/interaction/${uid}`,
    },
  };
}
