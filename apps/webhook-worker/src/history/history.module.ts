import { Module } from '@nestjs/common';
import { DispatchQueueModule } from '../dispatch-queue/dispatch-queue.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { DeliveriesController } from './deliveries.controller.js';
import { OrderDeliveriesController } from './order-deliveries.controller.js';
import { ReadDeliveries } from './read-deliveries.js';
import { ReadOrderDeliveries } from './read-order-deliveries.js';
import { ReadHealth } from './read-health.js';
import { RecoverDeliveries } from './owner-requests/recover-deliveries.js';
import { RetryDelivery } from './owner-requests/retry-delivery.js';
import { SendTestEvent } from './owner-requests/send-test-event.js';

@Module({
  imports: [DispatchQueueModule, SubscriptionsModule],
  controllers: [DeliveriesController, OrderDeliveriesController],
  providers: [
    ReadDeliveries,
    ReadOrderDeliveries,
    ReadHealth,
    RecoverDeliveries,
    RetryDelivery,
    SendTestEvent,
  ],
})
export class HistoryModule {}
