import { Module } from '@nestjs/common';
import { ReadLedgerLines } from './ledger-lines/read-ledger-lines.js';
import { ReadSeries } from './series/read-series.js';
import { ReadStatistics } from './read-statistics.js';
import { StatisticsController } from './statistics.controller.js';

@Module({
  controllers: [StatisticsController],
  providers: [ReadLedgerLines, ReadSeries, ReadStatistics],
})
export class StatisticsModule {}
