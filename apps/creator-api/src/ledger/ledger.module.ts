import { Module } from '@nestjs/common';
import { LedgerPosting } from './ledger-posting.job.js';

@Module({ providers: [LedgerPosting], exports: [LedgerPosting] })
export class LedgerModule {}
