import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { CreatorAndOrderConsumer } from './creator-and-order.consumer.js';
import { ReplayConsumer } from './replay.consumer.js';

@Module({ imports: [LedgerModule], providers: [CreatorAndOrderConsumer, ReplayConsumer] })
export class ConsumersModule {}
