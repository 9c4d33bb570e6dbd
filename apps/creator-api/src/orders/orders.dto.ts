import { Description, Field } from '@fulfilment/api-reference';
import { dispatchStatuses, paymentStatuses } from '@fulfilment/contracts';
import { NumberedPageDto, UuidField } from '@fulfilment/http-service';
import { applyDecorators } from '@nestjs/common';
import { IsIn, IsOptional } from 'class-validator';
import { z } from 'zod';
import { creatorExample } from '../creators/creator.shapes.js';
import { AppFilter } from '../statistics/breakdown-filters.js';
import { orderSummaryExample } from './order.shapes.js';

/** An existing day. PostgreSQL has no days of the year 0000. */
const day = z.iso.date().refine((text) => !text.startsWith('0000'));
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
  readonly app?: string;
}

export class OrdersQuery extends NumberedPageDto implements OrdersFilter {
  @Description('The creator whose orders are listed', creatorExample.uuid) @UuidField() creator: string;

  @StatusFilter(
    'Only orders with this `payment_status` or `dispatch_status`; `pending` matches either of them',
  )
  status?: string;

  @PlacedFrom() from?: string;
  @PlacedTo() to?: string;
  @AppFilter() app?: string;
}

export class ExportQuery implements OrdersFilter {
  @Description('The creator whose orders are exported', creatorExample.uuid) @UuidField() creator: string;

  @StatusFilter('Only orders with this `payment_status` or `dispatch_status`, as in the list')
  status?: string;

  @PlacedFrom() from?: string;
  @PlacedTo() to?: string;
  @AppFilter() app?: string;
}

function StatusFilter(description: string): PropertyDecorator {
  return applyDecorators(
    Description(description, 'paid'),
    IsOptional(),
    IsIn(statuses, { message: `must be one of ${statuses.join(', ')}` }),
  );
}

function PlacedFrom(): PropertyDecorator {
  return dayFilter('Only orders placed on or after this day, in UTC', '2026-11-01');
}

function PlacedTo(): PropertyDecorator {
  return dayFilter('Only orders placed on or before this day, in UTC', '2026-11-30');
}

function dayFilter(description: string, example: string): PropertyDecorator {
  return applyDecorators(
    Description(description, example),
    IsOptional(),
    Field({
      name: 'day',
      schema: { type: 'string', format: 'date', pattern: '^(?!0000)' },
      holds: (value) => day.safeParse(value).success,
      reason: () => 'must be a date, YYYY-MM-DD',
    }),
  );
}
