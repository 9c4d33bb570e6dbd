import { Operation } from '@fulfilment/api-reference';
import { type Caller, CurrentCaller, RateLimit, Scopes } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ExactIntegers } from './exact-integers.interceptor.js';
import { CreatorPath, PeriodQuery } from './period.dto.js';
import { ReadStatistics } from './read-statistics.js';
import * as reference from './statistics.reference.js';

@Controller('api/v1/creators/:uuid/stats')
export class StatisticsController {
  constructor(private readonly statistics: ReadStatistics) {}

  @Get('sales')
  @Scopes()
  @RateLimit('stats')
  @ExactIntegers()
  @Operation(reference.readSales)
  sales(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() { period }: PeriodQuery) {
    return this.statistics.sales(caller, uuid, period);
  }

  @Get('royalties')
  @Scopes()
  @RateLimit('stats')
  @ExactIntegers()
  @Operation(reference.readRoyalties)
  royalties(
    @CurrentCaller() caller: Caller,
    @Param() { uuid }: CreatorPath,
    @Query() { period }: PeriodQuery,
  ) {
    return this.statistics.royalties(caller, uuid, period);
  }
}
