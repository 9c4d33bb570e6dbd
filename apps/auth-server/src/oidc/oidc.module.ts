import { RateLimiter } from '@fulfilment/http-service';
import { RedisConnection } from '@fulfilment/http-service/redis';
import { Module } from '@nestjs/common';
import { CONFIG, type AuthServerSettings } from '../config.js';
import type { AuthQuota } from '../http/quotas.js';
import { RejectionAudit } from './clients/rejection-audit.js';
import { GrantLoader } from './authorization/grants.js';
import { OidcServer } from './oidc-server.js';
import { ProviderDependencies } from './provider-dependencies.js';

@Module({
  providers: [
    RejectionAudit,
    GrantLoader,
    OidcServer,
    ProviderDependencies,
    {
      provide: RateLimiter,
      inject: [RedisConnection, CONFIG],
      useFactory: (redis: RedisConnection, config: AuthServerSettings) =>
        new RateLimiter<AuthQuota>(redis, {
          token: config.RATE_LIMIT_TOKEN,
          register: config.RATE_LIMIT_REGISTER,
          authorization: config.RATE_LIMIT_AUTHORIZATION,
          // Separate, so that other requests never keep the APIs from reading the keys.
          documents: config.RATE_LIMIT_AUTHORIZATION,
        }),
    },
  ],
  exports: [OidcServer, RateLimiter],
})
export class OidcModule {}
