import { ShardsModule } from '@fulfilment/service-host';
import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { BulkUpdates } from './bulk-updates.js';

@Module({ imports: [DeliveryModule, ShardsModule, SubscriptionsModule], providers: [BulkUpdates] })
export class BulkUpdatesModule {}
