import { DatabasePools, ShardsModule } from '@fulfilment/service-host';
import { Module } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from '../config.js';
import { DispatchQueueModule } from '../dispatch-queue/dispatch-queue.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { DeliveryWindows } from './delivery-windows.js';
import { Dispatcher } from './dispatcher.js';
import { DueScans } from './due-scans.js';
import { HostSlots } from './host-slots.js';
import { Lease } from './lease.js';
import { PostWebhook } from './post-webhook.js';
import { Reconciler } from './reconciler.js';
import { SettleAttempts } from './settle-attempts.js';
import { SettlementBatches } from './settlement-batches.js';

@Module({
  imports: [DispatchQueueModule, ShardsModule, SubscriptionsModule],
  providers: [
    DeliveryWindows,
    Dispatcher,
    DueScans,
    HostSlots,
    Lease,
    PostWebhook,
    Reconciler,
    SettleAttempts,
    SettlementBatches,
    {
      provide: DELIVERY_DATABASE,
      inject: [DatabasePools, CONFIG],
      useFactory: (pools: DatabasePools, config: WebhookWorkerSettings) =>
        pools.open('delivery', config.DATABASE_DELIVERY_POOL_SIZE),
    },
  ],
})
export class DeliveryModule {}
