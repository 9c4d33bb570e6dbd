import { dpopSigningAlgorithms, issuer } from '@fulfilment/contracts';
import type { Clock, Logger } from '@fulfilment/runtime';
import Provider, { type Configuration } from 'oidc-provider';
import type { ReadAccounts } from '../accounts/read-accounts.js';
import type { Config } from '../config.js';
import type { KeySet } from '../keys/signing-keys.js';
import { loggedOutPage, logoutPage, problemPage } from '../pages/provider-pages.js';
import type { SecondFactors } from '../second-factor/second-factors.js';
import type { BrowserSessions } from '../sessions/browser-sessions.js';
import { noteSignIns } from '../sessions/note-sign-in.js';
import { type AdapterDependencies, adapterFactory } from '../tokens/adapter.js';
import { endsFamily, noteAnswers } from '../tokens/reuse.js';
import type { SentAnswers } from '../tokens/sent-answers.js';
import { AccessTokenFormat, useSignedAccessTokens } from './access-tokens.js';
import { accountClient } from './account-client.js';
import {
  answerOutages,
  answerUnknownPaths,
  cachePublicDocuments,
  forbidStoring,
  inOneTransaction,
  onlyAt,
} from './around-requests.js';
import { awaitRecords, recordEvents } from './audit-events.js';
import { judgeRegistration } from './client-registration.js';
import { requireClient } from './client-required.js';
import { cookieSettings } from './cookies.js';
import type { CountRejections } from './count-rejections.js';
import { isOriginOfClient } from './cors.rules.js';
import { claimsOfScopes, currentOrganisation, findAccount } from './find-account.js';
import { connectGrantsToCreators, type ExistingGrants } from './grants.js';
import { interactionRules } from './interaction-policy.js';
import { allowIntrospection } from './introspection-policy.js';
import { describeSwappedToken } from './introspection-swap.js';
import { judgeAuthorization } from './judge-authorization.js';
import { familyLifetime, lifetimes, refreshTokenLifetime, signInLimits } from './lifetimes.rules.js';
import { endTokensOfSession } from './logout.js';
import { noteClient } from './note-client.js';
import { numericDate } from './numeric-date.js';
import { words } from './requested-scope.js';
import { nameResponseModes } from './response-modes.js';
import { LocalSigningKey } from './signing-key.js';
import { knownScopes } from './strict-scopes.js';

export interface ProviderDependencies extends AdapterDependencies {
  readonly config: Config;
  readonly logger: Logger;
  readonly accounts: ReadAccounts;
  readonly grants: ExistingGrants;
  readonly factors: SecondFactors;
  readonly browsers: BrowserSessions;
  readonly answers: SentAnswers;
  readonly rejections: CountRejections;
  readonly clock: Clock;
}

/** The whole wiring of the authorization server. A new one is built over the same storage whenever the keys change. */
export function buildProvider(keySet: KeySet, dependencies: ProviderDependencies): Provider {
  const { answers, config, logger, work } = dependencies;
  const provider = new Provider(issuer(config.AUTH_URL), {
    ...identity(keySet, dependencies),
    ...protocol(dependencies),
    ...people(dependencies),
    adapter: adapterFactory(dependencies),
  });
  const format = new AccessTokenFormat({ authUrl: config.AUTH_URL, baseUrl: config.BASE_URL }, keySet);
  provider.proxy = true; // mount.ts makes the forwarded headers trustworthy
  provider.maxIpsCount = 1;
  useSignedAccessTokens(provider, format);
  connectGrantsToCreators(provider);
  provider.use(answerOutages(provider, logger));
  provider.use(answerUnknownPaths);
  provider.use(onlyAt(/^\/(jwks|\.well-known\/)/, cachePublicDocuments));
  provider.use(onlyAt(/^\/\.well-known\//, nameResponseModes));
  provider.use(onlyAt(/^\/oauth2\/(token|introspect|revoke|par)$/, noteClient(dependencies.rejections)));
  provider.use(onlyAt(/^\/oauth2\//, forbidStoring));
  provider.use(awaitRecords);
  provider.use(onlyAt(/^\/oauth2\/(token|revoke)$/, inOneTransaction(provider, work)));
  provider.use(onlyAt(/^\/oauth2\/introspect$/, describeSwappedToken));
  provider.use(onlyAt(/^\/oauth2\/(introspect|revoke)$/, requireClient));
  provider.use(onlyAt(/^\/oauth2\/end-session/, endTokensOfSession(work)));
  provider.use(onlyAt(/^\/oauth2\/authorize/, noteSignIns(dependencies.browsers)));
  recordEvents(provider, work);
  noteAnswers(provider, answers, work);
  return provider;
}

/** Who we are and what we sign with. */
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
      introspection_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    },
  };
}

/** OAuth 2.1: code with PKCE for every client, exact redirects, rotating refresh tokens, nothing implicit. */
function protocol({ answers, clock, rejections, work }: ProviderDependencies): Configuration {
  return {
    scopes: knownScopes,
    responseTypes: ['code'],
    subjectTypes: ['public'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx, client, { scopes }) =>
      client.grantTypeAllowed('refresh_token') && scopes.has('offline_access'),
    revokeGrantPolicy: endsFamily(answers, work),
    expiresWithSession: () => false, // logout.ts ends what belongs to a session
    enabledJWA: {
      idTokenSigningAlgValues: ['ES256', 'RS256'],
      dPoPSigningAlgValues: [...dpopSigningAlgorithms],
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    clientBasedCORS: (_ctx, origin, client) => isOriginOfClient(origin, client.redirectUris ?? []),
    extraParams: { creator: judgeAuthorization },
    extraClientMetadata: {
      properties: ['first_party', 'resource_server', 'verified'],
      validator: judgeRegistration,
    },
    ttl: {
      AuthorizationCode: lifetimes.authorizationCode,
      AccessToken: lifetimes.accessToken,
      IdToken: lifetimes.idToken,
      RefreshToken: (_ctx, token) => {
        const now = numericDate(clock());
        return refreshTokenLifetime(token.iiat ?? now, now);
      },
      Grant: (_ctx, grant) => familyLifetime(words(grant.getOIDCScope())),
      Session: lifetimes.session,
      Interaction: lifetimes.interaction,
    },
    features: {
      devInteractions: { enabled: false },
      claimsParameter: { enabled: false },
      resourceIndicators: { enabled: false }, // one token for both APIs and UserInfo: access-tokens.ts
      registration: { enabled: true, initialAccessToken: false },
      registrationManagement: { enabled: true, rotateRegistrationAccessToken: true },
      introspection: {
        enabled: true,
        allowedPolicy: allowIntrospection(rejections),
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      pushedAuthorizationRequests: { enabled: true },
      dPoP: { enabled: true },
      externalSigningSupport: { enabled: true, ack: 'experimental-01' }, // signing-key.ts
      rpInitiatedLogout: { enabled: true, logoutSource: logoutPage, postLogoutSuccessSource: loggedOutPage },
    },
    renderError: problemPage,
  };
}

/** Who signs in, and what they are asked. */
function people({ accounts, config, stored, work, grants, factors }: ProviderDependencies): Configuration {
  return {
    findAccount: findAccount(accounts, stored, work),
    extraTokenClaims: (ctx) => currentOrganisation(ctx),
    claims: claimsOfScopes,
    loadExistingGrant: (ctx) => grants.load(ctx),
    interactions: {
      policy: interactionRules(accounts, factors, signInLimits(config)),
      url: (_ctx, { uid }) => `/interaction/${uid}`,
    },
  };
}
