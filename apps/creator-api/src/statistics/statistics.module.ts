import { Module } from '@nestjs/common';
import { LedgerLinesController } from './ledger-lines.controller.js';
import { ReadLedgerLines } from './read-ledger-lines.js';
import { ReadSeries } from './read-series.js';
import { ReadStatistics } from './read-statistics.js';
import { StatisticsController } from './statistics.controller.js';

@Module({
  controllers: [StatisticsController, LedgerLinesController],
  providers: [ReadLedgerLines, ReadSeries, ReadStatistics],
})
export class StatisticsModule {}
