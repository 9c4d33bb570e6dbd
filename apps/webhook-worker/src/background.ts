import type { Shutdown } from '@fulfilment/runtime';
import type { INestApplicationContext } from '@nestjs/common';
import { DirectDispatcher } from './delivery/direct-dispatcher.js';
import { DispatchJobs } from './delivery/dispatch.job.js';
import { DispatchQueues } from './delivery/dispatch-queues.js';
import { DispatchSubscription } from './delivery/dispatch-subscription.js';
import { Reconciler } from './delivery/reconciler.js';
import { DispatchScheduler } from './delivery/dispatch-scheduler.js';
import { DeleteRevokedSubscriptions } from './subscriptions/delete-revoked-subscriptions.js';
import { BulkUpdates } from './bulk-updates/bulk-updates.js';
import { MaintenanceJob } from './maintenance-job.js';

/**
 * Starts background loops and job workers. On shutdown no new work starts and running attempts are settled.
 */
export function startBackground(app: INestApplicationContext, shutdown: Shutdown): void {
  const [queues, jobs, directDispatcher] = [
    app.get(DispatchQueues),
    app.get(DispatchJobs),
    app.get(DirectDispatcher),
  ];
  const [dispatch, scheduler, reconciler, maintenance, bulkUpdates, deleteRevoked] = [
    app.get(DispatchSubscription),
    app.get(DispatchScheduler),
    app.get(Reconciler),
    app.get(MaintenanceJob),
    app.get(BulkUpdates),
    app.get(DeleteRevokedSubscriptions),
  ];
  jobs.start();
  reconciler.start();
  maintenance.start();
  bulkUpdates.start();
  deleteRevoked.start();
  shutdown.add('drain queues', () => queues.stop());
  shutdown.add('deliveries', async () => {
    await Promise.all([dispatch.stop(), jobs.stop(), directDispatcher.stop()]);
  });
  shutdown.add('wake-ups', async () => {
    scheduler.stop();
    await Promise.all([reconciler.stop(), maintenance.stop(), bulkUpdates.stop(), deleteRevoked.stop()]);
  });
}
