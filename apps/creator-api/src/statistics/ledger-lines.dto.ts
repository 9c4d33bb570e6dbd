import { Description } from '@fulfilment/api-reference';
import { StorePageDto } from '@fulfilment/http-service';
import {
  AppFilter,
  CountryFilter,
  PlatformFilter,
  ProductTypeFilter,
  ReleaseFilter,
} from './breakdown-filters.js';
import { MonthParameter } from './period.dto.js';

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
