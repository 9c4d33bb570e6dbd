import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { DeferredEvents } from './deferred-events.js';
import { FulfilmentConsumer } from './fulfilment.consumer.js';
import { HandleFulfilmentEvents } from './handle-fulfilment-events.js';
import { TransitionOrders } from './transition-orders.js';

@Module({
  imports: [CatalogueModule, OrdersModule],
  providers: [DeferredEvents, FulfilmentConsumer, HandleFulfilmentEvents, TransitionOrders],
  exports: [HandleFulfilmentEvents],
})
export class FulfilmentModule {}
