import { Module } from '@nestjs/common';
import { ReadSeries } from './read-series.js';
import { ReadStatistics } from './read-statistics.js';
import { StatisticsController } from './statistics.controller.js';

@Module({ controllers: [StatisticsController], providers: [ReadSeries, ReadStatistics] })
export class StatisticsModule {}
