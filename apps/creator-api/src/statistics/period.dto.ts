import { Description } from '@fulfilment/api-reference';
import { UuidField } from '@fulfilment/http-service';
import { Matches } from 'class-validator';
import { creatorExample } from '../creators/creator.shapes.js';
import { monthPattern } from './statistics.shapes.js';

export class CreatorPath {
  @Description('The creator', creatorExample.uuid) @UuidField() uuid: string;
}

export class PeriodQuery {
  @Description('The month, in UTC', '2026-11')
  @MonthParameter()
  period: string;
}

export function MonthParameter(): PropertyDecorator {
  return Matches(monthPattern, { message: 'must be a month, YYYY-MM' });
}
