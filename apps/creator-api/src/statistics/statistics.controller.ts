import { Operation } from '@fulfilment/api-reference';
import { NoScopes, type Caller, CurrentCaller, RateLimit, WithPathErrors } from '@fulfilment/http-service';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ExactIntegers } from './exact-integers.interceptor.js';
import { CreatorPath } from '../creators/creator-path.dto.js';
import { ReadLedgerLines } from './ledger-lines/read-ledger-lines.js';
import { ReadSeries } from './series/read-series.js';
import { ReadStatistics } from './read-statistics.js';
import { LedgerLinesQuery, PeriodQuery, SeriesQuery } from './statistics.dto.js';
import * as reference from './statistics.reference.js';

@Controller('api/v1/creators/:uuid')
@NoScopes()
@RateLimit('stats')
@ExactIntegers()
@WithPathErrors(CreatorPath)
export class StatisticsController {
  constructor(
    private readonly statistics: ReadStatistics,
    private readonly readSeries: ReadSeries,
    private readonly readLedgerLines: ReadLedgerLines,
  ) {}

  @Get('stats/sales')
  @Operation(reference.readSales)
  sales(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() { period }: PeriodQuery) {
    return this.statistics.sales(caller, uuid, period);
  }

  @Get('stats/royalties')
  @Operation(reference.readRoyalties)
  royalties(
    @CurrentCaller() caller: Caller,
    @Param() { uuid }: CreatorPath,
    @Query() { period }: PeriodQuery,
  ) {
    return this.statistics.royalties(caller, uuid, period);
  }

  @Get('stats/series')
  @Operation(reference.readSeries)
  series(@CurrentCaller() caller: Caller, @Param() { uuid }: CreatorPath, @Query() query: SeriesQuery) {
    return this.readSeries.run(caller, uuid, query);
  }

  @Get('ledger')
  @Operation(reference.readLedgerLines)
  ledgerLines(
    @CurrentCaller() caller: Caller,
    @Param() { uuid }: CreatorPath,
    @Query() query: LedgerLinesQuery,
  ) {
    return this.readLedgerLines.run(caller, uuid, query);
  }
}
