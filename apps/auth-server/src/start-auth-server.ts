import type { Database } from '@fulfilment/database';
import { RateLimiter, type ReadinessChecks, type RedisConnection, startHttp } from '@fulfilment/http-service';
import type { Outbox } from '@fulfilment/messaging';
import { BackgroundLoop, type Clock, type Logger, type Shutdown } from '@fulfilment/runtime';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { keepAuditMonths } from './audit/audit-months.js';
import { writeCountedRecords } from './audit/counted-records.js';
import { AuthServerModule } from './auth-server.module.js';
import type { Config } from './config.js';
import { keyRotation } from './keys/key-rotation.js';
import { SigningKeys } from './keys/signing-keys.js';
import { mountOidc } from './oidc/mount.js';
import { OidcServer } from './oidc/oidc-server.js';
import { mountPages } from './pages/mount-pages.js';
import type { AuthQuota } from './requests/request-limits.js';
import { DenyList } from './revocation/deny-list.js';
import { BrowserSessions } from './sessions/browser-sessions.js';
import { GuessCounts } from './sign-in/guess-counts.js';
import { sweepExpired, sweepGently } from './tokens/sweep.js';

const sweepEveryMs = 60_000;

export interface AuthServer {
  readonly app: NestExpressApplication;
  /** Call once the database is connected. */
  startLoops(shutdown: Shutdown): void;
}

/** Opens the HTTP port with everything on it; not ready before the signing keys are read. */
export async function startAuthServer(parts: {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly background: Database;
  readonly redis: RedisConnection;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly readiness: ReadinessChecks;
}): Promise<AuthServer> {
  const { config, logger, database, background, redis, outbox, clock, readiness } = parts;
  const limiter = new RateLimiter<AuthQuota>(redis, {
    token: config.RATE_LIMIT_TOKEN,
    register: config.RATE_LIMIT_REGISTER,
    authorization: config.RATE_LIMIT_AUTHORIZATION,
    documents: config.RATE_LIMIT_AUTHORIZATION, // of their own: the APIs must get our keys whatever else a neighbour asks
  });
  const app = await startHttp({
    module: AuthServerModule.with({ config, logger, database, background, redis, outbox, clock }),
    host: config.HOST,
    port: config.PORT,
    logger,
    anyOrigin: false,
    readiness: { ...readiness, signing_keys: () => app.get(OidcServer).ready },
    ahead: (nest) => mountOidc(config, nest.get(OidcServer), limiter),
    before: (nest) => mountPages(nest, limiter),
  });
  return {
    app,
    startLoops: (shutdown) => {
      const denyList = app.get(DenyList);
      const browsers = app.get(BrowserSessions);
      const guesses = app.get(GuessCounts);
      const sweep = new BackgroundLoop({
        name: 'sweep',
        intervalMs: sweepEveryMs,
        logger,
        round: () =>
          sweepGently(
            async () =>
              (await sweepExpired(background)) ||
              (await denyList.prune()) ||
              (await browsers.prune(background)) ||
              (await writeCountedRecords(background)) ||
              (await guesses.deleteExpired(background)),
          ),
      });
      const auditMonths = new BackgroundLoop({
        name: 'audit-months',
        intervalMs: sweepEveryMs,
        logger,
        round: async () => {
          await keepAuditMonths(background, config.AUDIT_RETENTION_DAYS, logger);
          return false;
        },
      });
      const rotation = keyRotation(app.get(SigningKeys), config.SIGNING_KEY_ROTATION_DAYS, logger);
      for (const loop of [app.get(OidcServer), denyList, sweep, auditMonths, rotation]) {
        loop.start();
        shutdown.add('loop', () => loop.stop());
      }
    },
  };
}
