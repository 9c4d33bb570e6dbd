import { Description } from '@fulfilment/api-reference';
import { TextField, UuidField } from '@fulfilment/http-service';
import { IsIn, IsOptional, Matches } from 'class-validator';
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

  @Description(
    'Only this release: a `release_group` of the statistics',
    '019a7f2e-0c11-7d22-8e33-4f5566778899',
  )
  @IsOptional()
  @UuidField()
  release?: string;

  @Description('Only products of this type', 'vinyl_12_lp')
  @IsOptional()
  @TextField({ max: 255 })
  product_type?: string;

  @Description('Only orders to this country, ISO 3166-1 alpha-2', 'DE')
  @IsOptional()
  @Matches(/^[A-Z]{2}$/, { message: 'must be two capital letters' })
  country?: string;

  @Description('Only orders whose `source` names this platform', 'shopify')
  @IsOptional()
  @TextField({ max: 255 })
  platform?: string;
}
