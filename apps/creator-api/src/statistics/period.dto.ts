import { Description } from '@fulfilment/api-reference';
import { Matches } from 'class-validator';
import { monthPattern } from './statistics.shapes.js';

export class PeriodQuery {
  @Description('The month, in UTC', '2026-11')
  @MonthParameter()
  period: string;
}

export function MonthParameter(): PropertyDecorator {
  return Matches(monthPattern, { message: 'must be a month, YYYY-MM' });
}
