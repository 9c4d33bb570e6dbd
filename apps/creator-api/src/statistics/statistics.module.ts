import { Module } from '@nestjs/common';
import { ReadLedgerLines } from './read-ledger-lines.js';
import { ReadSeries } from './read-series.js';
import { ReadStatistics } from './read-statistics.js';
import { StatisticsController } from './statistics.controller.js';

@Module({
  controllers: [StatisticsController],
  providers: [ReadLedgerLines, ReadSeries, ReadStatistics],
})
export class StatisticsModule {}
