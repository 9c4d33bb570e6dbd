import { Description } from '@fulfilment/api-reference';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { CountryFilter, PlatformFilter, ProductTypeFilter, ReleaseFilter } from './breakdown-filters.js';
import { dimensions, type Dimension } from './series.shapes.js';
import { monthPattern } from './statistics.shapes.js';

const month = { message: 'must be a month, YYYY-MM' };

export class SeriesQuery {
  @Description('The first month, in UTC. By default 11 months before `to`', '2026-01')
  @IsOptional()
  @Matches(monthPattern, month)
  from?: string;

  @Description(
    'The last month, in UTC, at most 35 months after `from`. By default 11 months after `from`, or the current month',
    '2026-12',
  )
  @IsOptional()
  @Matches(monthPattern, month)
  to?: string;

  @Description('Also returns the sums of each release, product type, country or platform', 'country')
  @IsOptional()
  @IsIn(dimensions, { message: `must be one of ${dimensions.join(', ')}` })
  group_by?: Dimension;

  @ReleaseFilter() release?: string;
  @ProductTypeFilter() product_type?: string;
  @CountryFilter() country?: string;
  @PlatformFilter() platform?: string;
}
