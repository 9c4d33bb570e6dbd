import type { Api } from '@fulfilment/api-reference';
import { audiences } from '@fulfilment/contracts';
import { CONFIG } from '@fulfilment/runtime';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { type Request, type Response, Router } from 'express';
import { AccessGuard, RESOURCE_METADATA_URL } from './access/access.guard.js';
import { DpopProofs } from './access/dpop-proofs.js';
import { RateLimiter } from './access/rate-limiter.js';
import { RevokedTokens } from './access/revoked-tokens.js';
import { TokenVerifier } from './access/token-verifier.js';
import { HttpModule } from './http.module.js';
import { JsonBodyGuard } from './request-bodies/json-body.guard.js';
import { protectedResourceMetadata, protectedResourcePath } from './protected-resource.js';
import { RedisConnection } from './redis/redis.js';
import { referenceRoutes } from './reference/serve-reference.js';
import { OmitRetryAfterGuard } from './idempotency/retry-only-with-key.js';
import { type ApiSettings, quotasOf } from './settings.js';
import { SignedCursors } from './signed-cursors.js';
import { HTTP_OPTIONS, type HttpOptions } from './start-http.js';

export interface ApiOptions {
  /** Decides the path prefix of the routes and the audience of the tokens. */
  readonly api: Api;
  /** Human-readable name, in the metadata and in the title of the reference. */
  readonly resourceName: string;
  /** The scopes in the metadata. Each route declares what it requires. */
  readonly scopes: readonly string[];
  /** Whether this service serves the API's reference. Default: false. */
  readonly servesReference?: boolean;
}

/** An HTTP service that requires access tokens. Token, quota and scopes are checked before the body. */
@Global()
@Module({})
export class ApiModule {
  static forRoot(options: ApiOptions): DynamicModule {
    return {
      module: ApiModule,
      imports: [HttpModule],
      providers: [
        {
          provide: TokenVerifier,
          inject: [CONFIG],
          useFactory: ({ AUTH_URL: authUrl, JWKS_URL, BASE_URL }: ApiSettings) =>
            new TokenVerifier({
              authUrl,
              jwksUrl: JWKS_URL ?? `${authUrl}/api/auth/jwks`,
              audience: audiences(BASE_URL)[options.api],
            }),
        },
        RevokedTokens,
        {
          provide: RateLimiter,
          inject: [RedisConnection, CONFIG],
          useFactory: (redis: RedisConnection, config: ApiSettings) =>
            new RateLimiter(redis, quotasOf(config)),
        },
        {
          provide: DpopProofs,
          inject: [RedisConnection, CONFIG],
          useFactory: (redis: RedisConnection, config: ApiSettings) => new DpopProofs(redis, config.BASE_URL),
        },
        {
          provide: SignedCursors,
          inject: [CONFIG],
          useFactory: (config: ApiSettings) => new SignedCursors(config.CURSOR_SECRET),
        },
        {
          provide: RESOURCE_METADATA_URL,
          inject: [CONFIG],
          useFactory: (config: ApiSettings) => `${config.BASE_URL}${protectedResourcePath(options.api)}`,
        },
        {
          provide: HTTP_OPTIONS,
          inject: [CONFIG],
          useFactory: (config: ApiSettings) => httpOptions(options, config),
        },
        // In this order. The first rejects nothing, but also applies to the errors of the others.
        { provide: APP_GUARD, useClass: OmitRetryAfterGuard },
        { provide: APP_GUARD, useClass: AccessGuard },
        { provide: APP_GUARD, useClass: JsonBodyGuard },
      ],
      exports: [RateLimiter, RevokedTokens, SignedCursors],
    };
  }
}

/** Returns the HTTP options, with the routes that have no controller: metadata (RFC 9728) and reference. */
function httpOptions(
  options: ApiOptions,
  { BASE_URL: baseUrl, AUTH_URL: authUrl }: ApiSettings,
): HttpOptions {
  const { api, resourceName: name, scopes, servesReference = false } = options;
  const metadata = protectedResourceMetadata(api, name, scopes, { baseUrl, authUrl });
  return {
    prefix: api,
    beforeExpress: 'routes',
    beforeRoutes: (app) => {
      const routes = Router({ caseSensitive: true, strict: true }); // exactly this path
      routes.get(protectedResourcePath(api), (_request: Request, response: Response) => {
        response.set('Cache-Control', 'public, max-age=300').json(metadata);
      });
      app.use(routes);
      if (servesReference) app.use(`/${api}`, referenceRoutes(api, name, { baseUrl, authUrl }));
    },
  };
}
