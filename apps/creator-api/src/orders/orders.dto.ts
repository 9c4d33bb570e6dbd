import { dispatchStatuses, paymentStatuses } from '@fulfilment/contracts';
import { NumberedPageDto, UuidField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';
import { DateParameter } from './date-parameter.js';

const statuses = [...new Set([...paymentStatuses, ...dispatchStatuses])];

export class OrderPath {
  @UuidField() uuid: string;
}

export class OrdersQuery extends NumberedPageDto {
  @UuidField() creator: string;
  /** Of either set; `pending` is in both and finds both. */
  @IsOptional()
  @IsIn(statuses, { message: `must be one of ${statuses.join(', ')}` })
  status?: string;
  /** First day of `placed_at`, in UTC. */
  @IsOptional() @DateParameter() from?: string;
  /** Last day of `placed_at`, in UTC. */
  @IsOptional() @DateParameter() to?: string;
}
