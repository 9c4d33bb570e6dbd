import type { Shutdown } from '@fulfilment/runtime';
import type { INestApplicationContext } from '@nestjs/common';
import { DirectDrains } from './delivery/direct-drains.js';
import { DrainJobs } from './delivery/drain.job.js';
import { DrainQueues } from './delivery/drain-queues.js';
import { DrainSubscription } from './delivery/drain-subscription.js';
import { Reconciler } from './delivery/reconciler.js';
import { WakeUps } from './delivery/wake-ups.js';
import { EndAccess } from './subscriptions/end-access.js';
import { MoveDeliveries } from './moves/move-deliveries.js';
import { Upkeep } from './upkeep.js';

/** Starts what works without being asked. On shutdown nothing new is begun and what is in hand is settled. */
export function startBackground(app: INestApplicationContext, shutdown: Shutdown): void {
  const [queues, jobs, direct] = [app.get(DrainQueues), app.get(DrainJobs), app.get(DirectDrains)];
  const [drain, wakeUps, reconciler, upkeep, moves, endAccess] = [
    app.get(DrainSubscription),
    app.get(WakeUps),
    app.get(Reconciler),
    app.get(Upkeep),
    app.get(MoveDeliveries),
    app.get(EndAccess),
  ];
  jobs.start();
  reconciler.start();
  upkeep.start();
  moves.start();
  endAccess.start();
  shutdown.add('drain queues', () => queues.stop());
  shutdown.add('deliveries', async () => {
    await Promise.all([drain.stop(), jobs.stop(), direct.stop()]);
  });
  shutdown.add('wake-ups', async () => {
    wakeUps.stop();
    await Promise.all([reconciler.stop(), upkeep.stop(), moves.stop(), endAccess.stop()]);
  });
}
