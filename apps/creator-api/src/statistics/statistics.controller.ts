import { Operation } from '@fulfilment/api-reference';
import { AnyToken, type Caller, CurrentCaller, RateLimit } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ExactIntegers } from './exact-integers.interceptor.js';
import { CreatorPath } from '../creators/creator-path.dto.js';
import { PeriodQuery } from './period.dto.js';
import { ReadSeries } from './read-series.js';
import { ReadStatistics } from './read-statistics.js';
import { SeriesQuery } from './series.dto.js';
import * as reference from './statistics.reference.js';

@Controller('api/v1/creators/:uuid/stats')
export class StatisticsController {
  constructor(
    private readonly statistics: ReadStatistics,
    private readonly readSeries: ReadSeries,
  ) {}

  @Get('sales')
  @AnyToken()
  @RateLimit('stats')
  @ExactIntegers()
  @Operation(reference.readSales)
  sales(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() { period }: PeriodQuery) {
    return this.statistics.sales(caller, uuid, period);
  }

  @Get('royalties')
  @AnyToken()
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

  @Get('series')
  @AnyToken()
  @RateLimit('stats')
  @ExactIntegers()
  @Operation(reference.readSeries)
  series(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() query: SeriesQuery) {
    return this.readSeries.run(caller, uuid, query);
  }
}
