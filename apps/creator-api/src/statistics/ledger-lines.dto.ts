import { Description } from '@fulfilment/api-reference';
import { StorePageDto } from '@fulfilment/http-service';
import { Matches } from 'class-validator';
import {
  AppFilter,
  CountryFilter,
  PlatformFilter,
  ProductTypeFilter,
  ReleaseFilter,
} from './breakdown-filters.js';
import { monthPattern } from './statistics.shapes.js';

export class LedgerLinesQuery extends StorePageDto {
  @Description('The month in which the lines count, in UTC', '2026-11')
  @Matches(monthPattern, { message: 'must be a month, YYYY-MM' })
  period: string;

  @ReleaseFilter() release?: string;
  @ProductTypeFilter() product_type?: string;
  @CountryFilter() country?: string;
  @PlatformFilter() platform?: string;
  @AppFilter() app?: string;
}
