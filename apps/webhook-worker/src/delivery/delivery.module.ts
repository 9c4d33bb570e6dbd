import { DatabasePools, ShardsModule } from '@fulfilment/service-host';
import { Module } from '@nestjs/common';
import { CONFIG, DELIVERY_DATABASE, type WebhookWorkerSettings } from '../config.js';
import { DispatchQueueModule } from '../dispatch-queue/dispatch-queue.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { DeliveryWindows } from './concurrency/delivery-windows.js';
import { Dispatcher } from './dispatcher.js';
import { DueScans } from './claiming/due-scans.js';
import { HostSlots } from './concurrency/host-slots.js';
import { ClaimDeliveries } from './claiming/claim-deliveries.js';
import { NotifyOwners } from './health/notify-owners.js';
import { MakeAttempt } from './sending/make-attempt.js';
import { PostWebhook } from './sending/post-webhook.js';
import { Reconciler } from './reconciler/reconciler.js';
import { SettleAttempts } from './settlement/settle-attempts.js';
import { SettlementBatches } from './settlement/settlement-batches.js';

@Module({
  imports: [DispatchQueueModule, ShardsModule, SubscriptionsModule],
  providers: [
    ClaimDeliveries,
    DeliveryWindows,
    Dispatcher,
    DueScans,
    HostSlots,
    MakeAttempt,
    NotifyOwners,
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
  exports: [NotifyOwners],
})
export class DeliveryModule {}
