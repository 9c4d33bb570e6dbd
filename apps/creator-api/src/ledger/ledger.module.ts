import { ShardsModule } from '@fulfilment/service-host';
import { Module } from '@nestjs/common';
import { LedgerPosting } from './ledger-posting.job.js';

@Module({ imports: [ShardsModule], providers: [LedgerPosting], exports: [LedgerPosting] })
export class LedgerModule {}
