import { type Caller, Principal, RateLimit, Scopes } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { CreatorPath, PeriodQuery } from './period.dto.js';
import { ReadStatistics } from './read-statistics.js';

@Controller('api/v1/creators/:uuid/stats')
export class StatisticsController {
  constructor(private readonly statistics: ReadStatistics) {}

  @Get('sales')
  @Scopes()
  @RateLimit('stats')
  sales(@Principal() who: Caller, @Param() { uuid }: CreatorPath, @Query() { period }: PeriodQuery) {
    return this.statistics.sales(who, uuid, period);
  }

  @Get('royalties')
  @Scopes()
  @RateLimit('stats')
  royalties(@Principal() who: Caller, @Param() { uuid }: CreatorPath, @Query() { period }: PeriodQuery) {
    return this.statistics.royalties(who, uuid, period);
  }
}
