import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ExchangeRatesJob } from './exchange-rates.job.js';

@Module({ imports: [LedgerModule], providers: [ExchangeRatesJob] })
export class ExchangeRatesModule {}
