import { BACKGROUND_DATABASE, type Database } from '@fulfilment/database';
import { CLOCK, type Clock, type Logger, LOGGER, type Shutdown } from '@fulfilment/runtime';
import { startCleanup } from '@fulfilment/service-host';
import type { INestApplicationContext } from '@nestjs/common';
import { DispatchJobs } from './delivery/dispatch-jobs.js';
import { Dispatcher } from './delivery/dispatcher.js';
import { Reconciler } from './delivery/reconciler.js';
import { DeleteRevokedSubscriptions } from './subscriptions/delete-revoked-subscriptions.js';
import { BulkUpdates } from './bulk-updates/bulk-updates.js';
import { cleanupJobs } from './cleanup-jobs.js';
import { MaintenanceJob } from './maintenance-job.js';

/**
 * Starts background loops and job workers. On shutdown no new work starts and running attempts are settled.
 */
export function startBackground(app: INestApplicationContext, shutdown: Shutdown): void {
  const dispatcher = app.get(Dispatcher);
  const loops = [Reconciler, MaintenanceJob, BulkUpdates, DeleteRevokedSubscriptions].map((loop) =>
    app.get<{ start(): void; stop(): Promise<void> }>(loop),
  );
  for (const part of [dispatcher, ...loops]) part.start();
  shutdown.add('dispatch jobs', () => app.get(DispatchJobs).stop());
  shutdown.add('deliveries', () => dispatcher.stop());
  shutdown.add('background loops', () => Promise.all(loops.map((loop) => loop.stop())));
  const logger = app.get<Logger>(LOGGER);
  const jobs = cleanupJobs(app.get<Database>(BACKGROUND_DATABASE), app.get<Clock>(CLOCK), logger);
  startCleanup(jobs, logger, shutdown);
}
