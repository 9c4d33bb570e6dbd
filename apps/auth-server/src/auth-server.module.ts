import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { HTTP_OPTIONS, HttpModule, type HttpOptions, RateLimiter } from '@fulfilment/http-service';
import { LOGGER, type Logger } from '@fulfilment/runtime';
import { Cleanup, ServiceModule } from '@fulfilment/service-host';
import { type DynamicModule, Module } from '@nestjs/common';
import { AccountPagesModule } from './account-pages/account-pages.module.js';
import { AccountDataModule } from './account-data.module.js';
import { auditPartitionsJob, countedRecordsJob } from './audit/audit.job.js';
import { cleanupJobs } from './cleanup-jobs.js';
import { CONFIG, type AuthServerSettings, forceGenericPlan } from './config.js';
import type { AuthQuota } from './http/quotas.js';
import { KeysModule } from './keys/keys.module.js';
import { migrations } from './migrations/index.js';
import { oidcRawHandler } from './oidc/mount.js';
import { OidcModule } from './oidc/oidc.module.js';
import { OidcServer } from './oidc/oidc-server.js';
import { usePageMiddleware } from './pages/pages.middleware.js';
import { DenyList } from './revocation/deny-list.js';
import { BrowserSessions } from './sessions/browser-sessions.js';
import { GuessCounts } from './sign-in/throttling/guess-counts.js';
import { SignInModule } from './sign-in/sign-in.module.js';
import { TokensModule } from './tokens/tokens.module.js';

@Module({
  providers: [
    {
      provide: HTTP_OPTIONS,
      inject: [CONFIG, OidcServer, RateLimiter],
      useFactory: (
        config: AuthServerSettings,
        oidc: OidcServer,
        limiter: RateLimiter<AuthQuota>,
      ): HttpOptions => ({
        anyOrigin: false,
        readiness: { signing_keys: () => oidc.ready },
        beforeExpress: oidcRawHandler(config, oidc, limiter),
        beforeRoutes: (app) => usePageMiddleware(app, limiter),
      }),
    },
    {
      provide: Cleanup,
      inject: [BACKGROUND_DATABASE, DenyList, BrowserSessions, GuessCounts, LOGGER],
      useFactory: (
        database: Database,
        denyList: DenyList,
        browsers: BrowserSessions,
        guesses: GuessCounts,
        logger: Logger,
      ) => new Cleanup(cleanupJobs(database, denyList, browsers, guesses), logger),
    },
    // The service starts every provider that is a BackgroundTask. Nothing injects these two, so the factory
    // itself is the token.
    { provide: countedRecordsJob, inject: [BACKGROUND_DATABASE, LOGGER], useFactory: countedRecordsJob },
    {
      provide: auditPartitionsJob,
      inject: [BACKGROUND_DATABASE, CONFIG, LOGGER],
      useFactory: auditPartitionsJob,
    },
  ],
})
export class AuthServerModule {
  static forRoot(config: AuthServerSettings): DynamicModule {
    return {
      module: AuthServerModule,
      imports: [
        // The service consumes no messages. It publishes those of its use cases and of cli.ts.
        ServiceModule.forRoot({ name: 'auth-server', config, migrations, forceGenericPlan }),
        HttpModule,
        AccountDataModule,
        TokensModule,
        KeysModule,
        OidcModule,
        SignInModule,
        AccountPagesModule,
      ],
    };
  }
}
