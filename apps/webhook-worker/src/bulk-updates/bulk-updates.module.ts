import { ShardsModule } from '@fulfilment/service-host';
import { Module } from '@nestjs/common';
import { DispatchQueueModule } from '../dispatch-queue/dispatch-queue.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { BulkUpdates } from './bulk-updates.js';

@Module({ imports: [DispatchQueueModule, ShardsModule, SubscriptionsModule], providers: [BulkUpdates] })
export class BulkUpdatesModule {}
