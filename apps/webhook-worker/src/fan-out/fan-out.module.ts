import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { FanOut } from './fan-out.js';
import { EventsConsumer } from './events.consumer.js';

@Module({ imports: [DeliveryModule], providers: [FanOut, EventsConsumer] })
export class FanOutModule {}
