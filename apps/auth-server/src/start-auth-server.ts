import type { Database } from '@fulfilment/database';
import { RateLimiter, type ReadinessChecks, type RedisConnection, startHttp } from '@fulfilment/http-service';
import type { Outbox } from '@fulfilment/messaging';
import { BackgroundLoop, type Clock, type Logger, type Shutdown } from '@fulfilment/runtime';
import { type CleanupJob, startCleanup } from '@fulfilment/service-host';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { maintainAuditPartitions } from './audit/audit-partitions.js';
import { writeCountedRecords } from './audit/counted-records.js';
import { AuthServerModule } from './auth-server.module.js';
import type { Config } from './config.js';
import { keyRotation } from './keys/key-rotation.js';
import { SigningKeys } from './keys/signing-keys.js';
import { mountOidc } from './oidc/mount.js';
import { OidcServer } from './oidc/oidc-server.js';
import { mountPages } from './pages/mount-pages.js';
import type { AuthQuota } from './http/request-limits.js';
import { DenyList } from './revocation/deny-list.js';
import { BrowserSessions } from './sessions/browser-sessions.js';
import { GuessCounts } from './sign-in/guess-counts.js';
import { deleteExpiredRecords } from './tokens/delete-expired-records.js';

const cleanupIntervalMs = 60_000;

export interface AuthServer {
  readonly app: NestExpressApplication;
  /** Call once the database is connected. */
  startLoops(shutdown: Shutdown): void;
}

/** Starts the HTTP server. It is not ready until the signing keys are loaded. */
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
    // Separate, so that other requests never keep the APIs from reading the keys.
    documents: config.RATE_LIMIT_AUTHORIZATION,
  });
  const app = await startHttp({
    module: AuthServerModule.with({ config, logger, database, background, redis, outbox, clock }),
    host: config.HOST,
    port: config.PORT,
    logger,
    anyOrigin: false,
    readiness: { ...readiness, signing_keys: () => app.get(OidcServer).ready },
    rawHandler: (nest) => mountOidc(config, nest.get(OidcServer), limiter),
    beforeRoutes: (nest) => mountPages(nest, limiter),
  });
  return {
    app,
    startLoops: (shutdown) => {
      const denyList = app.get(DenyList);
      const browsers = app.get(BrowserSessions);
      const guesses = app.get(GuessCounts);
      const intervalMs = cleanupIntervalMs;
      const cleanupJobs: CleanupJob[] = [
        { name: 'expired records', intervalMs, deleteBatch: () => deleteExpiredRecords(background) },
        { name: 'revoked tokens', intervalMs, deleteBatch: () => denyList.deleteExpired() },
        { name: 'browser sessions', intervalMs, deleteBatch: () => browsers.deleteExpired(background) },
        { name: 'guess counts', intervalMs, deleteBatch: () => guesses.deleteExpired(background) },
      ];
      const countedRecords = new BackgroundLoop({
        name: 'counted-records',
        intervalMs,
        logger,
        round: () => writeCountedRecords(background),
      });
      const auditPartitions = new BackgroundLoop({
        name: 'audit-months',
        intervalMs,
        logger,
        round: async () => {
          await maintainAuditPartitions(background, config.AUDIT_RETENTION_DAYS, logger);
          return false;
        },
      });
      const rotation = keyRotation(app.get(SigningKeys), config.SIGNING_KEY_ROTATION_DAYS, logger);
      for (const loop of [app.get(OidcServer), denyList, countedRecords, auditPartitions, rotation]) {
        loop.start();
        shutdown.add('loop', () => loop.stop());
      }
      startCleanup(cleanupJobs, logger, shutdown);
    },
  };
}
