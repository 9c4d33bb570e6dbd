import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { FactsConsumer } from './facts.consumer.js';
import { ReplayConsumer } from './replay.consumer.js';

@Module({ imports: [LedgerModule], providers: [FactsConsumer, ReplayConsumer] })
export class ConsumersModule {}
