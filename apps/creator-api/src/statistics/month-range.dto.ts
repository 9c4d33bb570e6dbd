import { Description } from '@fulfilment/api-reference';
import { IsOptional, Matches } from 'class-validator';
import { monthPattern } from './statistics.shapes.js';

const month = { message: 'must be a month, YYYY-MM' };

export class MonthRangeQuery {
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
}
