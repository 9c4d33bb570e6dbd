import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { DeferredEvents } from './deferred-events.js';
import { FulfilmentConsumer } from './fulfilment.consumer.js';
import { HandleFulfilmentEvent } from './handle-fulfilment-event.js';
import { TransitionOrder } from './transition-order.js';

@Module({
  imports: [CatalogueModule],
  providers: [DeferredEvents, FulfilmentConsumer, HandleFulfilmentEvent, TransitionOrder],
})
export class FulfilmentModule {}
