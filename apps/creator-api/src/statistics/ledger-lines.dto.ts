import { Description } from '@fulfilment/api-reference';
import { StorePageDto, TextField, UuidField } from '@fulfilment/http-service';
import { IsOptional, Matches } from 'class-validator';
import { monthPattern } from './statistics.shapes.js';

export class LedgerLinesQuery extends StorePageDto {
  @Description('The month in which the lines count, in UTC', '2026-11')
  @Matches(monthPattern, { message: 'must be a month, YYYY-MM' })
  period: string;

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
