import { Description } from '@fulfilment/api-reference';
import { dispatchStatuses, paymentStatuses } from '@fulfilment/contracts';
import { NumberedPageDto, UuidField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';
import { creatorExample } from '../creators/creator.shapes.js';
import { DateParameter } from './date-parameter.js';
import { orderSummaryExample } from './order.shapes.js';

const statuses = [...new Set([...paymentStatuses, ...dispatchStatuses])];

export class OrderPath {
  @Description('The order', orderSummaryExample.uuid) @UuidField() uuid: string;
}

/** The filters of a list and of an export. */
export interface OrdersFilter {
  readonly creator: string;
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
}

export class OrdersQuery extends NumberedPageDto implements OrdersFilter {
  @Description('The creator whose orders are listed', creatorExample.uuid) @UuidField() creator: string;

  @Description(
    'Only orders with this `payment_status` or `dispatch_status`; `pending` matches either of them',
    'paid',
  )
  @IsOptional()
  @IsIn(statuses, { message: `must be one of ${statuses.join(', ')}` })
  status?: string;

  @Description('Only orders placed on or after this day, in UTC', '2026-11-01')
  @IsOptional()
  @DateParameter()
  from?: string;

  @Description('Only orders placed on or before this day, in UTC', '2026-11-30')
  @IsOptional()
  @DateParameter()
  to?: string;
}

export class ExportQuery implements OrdersFilter {
  @Description('The creator whose orders are exported', creatorExample.uuid) @UuidField() creator: string;

  @Description('Only orders with this `payment_status` or `dispatch_status`, as in the list', 'paid')
  @IsOptional()
  @IsIn(statuses, { message: `must be one of ${statuses.join(', ')}` })
  status?: string;

  @Description('Only orders placed on or after this day, in UTC', '2026-11-01')
  @IsOptional()
  @DateParameter()
  from?: string;

  @Description('Only orders placed on or before this day, in UTC', '2026-11-30')
  @IsOptional()
  @DateParameter()
  to?: string;
}
