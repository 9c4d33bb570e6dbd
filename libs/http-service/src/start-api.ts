import type { Api } from '@fulfilment/api-reference';
import { Reflector } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type Request, type Response, Router } from 'express';
import { AccessGuard } from './access/access.guard.js';
import { DpopProofs } from './access/dpop-proofs.js';
import { RateLimiter } from './access/rate-limiter.js';
import { RevokedTokens } from './access/revoked-tokens.js';
import { TokenVerifier } from './access/token-verifier.js';
import { JsonBodyGuard } from './json-body.guard.js';
import { protectedResourceMetadata, protectedResourcePath } from './protected-resource.js';
import type { RedisConnection } from './redis.js';
import { referenceRoutes } from './reference/serve-reference.js';
import { RetryAfterGuard } from './retry-only-with-key.js';
import { type ApiSettings, quotasOf } from './settings.js';
import { type HttpOptions, startHttp } from './start-http.js';

export interface ApiOptions extends Omit<
  HttpOptions,
  'host' | 'port' | 'prefix' | 'guards' | 'ahead' | 'before'
> {
  readonly settings: ApiSettings;
  readonly redis: RedisConnection;
  /** Which of the two APIs: names the path prefix and the audience. */
  readonly api: Api;
  readonly resourceName: string;
  readonly scopes: readonly string[];
  /** Whether this service serves the API's reference. */
  readonly servesReference?: boolean;
}

/** An HTTP service that takes access tokens: 401 → 429 → 403, then the body, then the DTO. */
export function startApi(options: ApiOptions): Promise<NestExpressApplication> {
  const { settings, redis, api } = options;
  const { BASE_URL: baseUrl, AUTH_URL: authUrl } = settings;
  const metadataPath = protectedResourcePath(api);
  const metadata = protectedResourceMetadata(api, options.resourceName, options.scopes, { baseUrl, authUrl });
  return startHttp({
    ...options,
    host: settings.HOST,
    port: settings.PORT,
    prefix: api,
    guards: (app) => [
      new RetryAfterGuard(app.get(Reflector)),
      new AccessGuard(
        app.get(Reflector),
        new TokenVerifier({
          authUrl,
          jwksUrl: settings.JWKS_URL ?? `${authUrl}/api/auth/jwks`,
          audience: metadata.resource,
        }),
        new RevokedTokens(redis),
        new RateLimiter(redis, quotasOf(settings)),
        new DpopProofs(redis, baseUrl),
        `${baseUrl}${metadataPath}`,
      ),
      new JsonBodyGuard(app.get(Reflector)),
    ],
    beforeRoutes: (app) => {
      const routes = Router({ caseSensitive: true, strict: true }); // only GET and HEAD of this path
      routes.get(metadataPath, (_request: Request, response: Response) => {
        response.set('Cache-Control', 'public, max-age=300').json(metadata);
      });
      app.use(routes);
      if (options.servesReference === true) {
        app.use(`/${api}`, referenceRoutes(api, options.resourceName, { baseUrl, authUrl }));
      }
    },
  });
}
