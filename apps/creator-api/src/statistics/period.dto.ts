import { UuidField } from '@fulfilment/http-service';
import { Matches } from 'class-validator';

export class CreatorPath {
  @UuidField() uuid: string;
}

export class PeriodQuery {
  /** A month in UTC. */
  @Matches(/^\d{4}-(0[1-9]|1[0-2])$/, { message: 'must be a month, YYYY-MM' })
  period: string;
}
