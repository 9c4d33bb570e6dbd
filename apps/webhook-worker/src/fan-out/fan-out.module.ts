import { Module } from '@nestjs/common';
import { DispatchQueueModule } from '../dispatch-queue/dispatch-queue.module.js';
import { FanOut } from './fan-out.js';
import { EventsConsumer } from './events.consumer.js';

@Module({ imports: [DispatchQueueModule], providers: [FanOut, EventsConsumer] })
export class FanOutModule {}
