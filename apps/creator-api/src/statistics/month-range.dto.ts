import { Description } from '@fulfilment/api-reference';
import { IsOptional } from 'class-validator';
import { MonthParameter } from './period.dto.js';

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
