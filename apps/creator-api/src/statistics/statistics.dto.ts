import { Description } from '@fulfilment/api-reference';
import { StorePageDto } from '@fulfilment/http-service';
import { IsIn, IsOptional, Matches } from 'class-validator';
import {
  AppFilter,
  CountryFilter,
  PlatformFilter,
  ProductTypeFilter,
  ReleaseFilter,
} from './breakdown-filters.js';
import { dimensions, type Dimension } from './series/series.shapes.js';
import { monthPattern } from './statistics.shapes.js';

function MonthParameter(): PropertyDecorator {
  return Matches(monthPattern, { message: 'must be a month, YYYY-MM' });
}

export class PeriodQuery {
  @Description('The month, in UTC', '2026-11')
  @MonthParameter()
  period: string;
}

export class MonthRangeQuery {
  @Description('The first month, in UTC. By default 11 months before `to`', '2026-01')
  @IsOptional()
  @MonthParameter()
  from?: string;

  @Description(
    'The last month, in UTC, at most 35 months after `from`. By default 11 months after `from`; without `from` the current month',
    '2026-12',
  )
  @IsOptional()
  @MonthParameter()
  to?: string;
}

export class SeriesQuery extends MonthRangeQuery {
  @Description('Also returns the sums of each release, product type, country, platform or app', 'country')
  @IsOptional()
  @IsIn(dimensions, { message: `must be one of ${dimensions.join(', ')}` })
  group_by?: Dimension;

  @ReleaseFilter() release?: string;
  @ProductTypeFilter() product_type?: string;
  @CountryFilter() country?: string;
  @PlatformFilter() platform?: string;
  @AppFilter() app?: string;
}

export class LedgerLinesQuery extends StorePageDto {
  @Description('The month in which the lines count, in UTC', '2026-11')
  @MonthParameter()
  period: string;

  @ReleaseFilter() release?: string;
  @ProductTypeFilter() product_type?: string;
  @CountryFilter() country?: string;
  @PlatformFilter() platform?: string;
  @AppFilter() app?: string;
}

/** The filters of a series and of ledger lines. */
export type BreakdownFilters = Pick<
  LedgerLinesQuery,
  'release' | 'product_type' | 'country' | 'platform' | 'app'
>;
