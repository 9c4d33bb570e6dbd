import { Description } from '@fulfilment/api-reference';
import { IsIn, IsOptional } from 'class-validator';
import {
  AppFilter,
  CountryFilter,
  PlatformFilter,
  ProductTypeFilter,
  ReleaseFilter,
} from './breakdown-filters.js';
import { dimensions, type Dimension } from './series.shapes.js';
import { MonthRangeQuery } from './month-range.dto.js';

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
