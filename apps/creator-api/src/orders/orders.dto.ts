import { Description, Field } from '@fulfilment/api-reference';
import { dispatchStatuses, paymentStatuses } from '@fulfilment/contracts';
import { PageNumber, PageSize, UuidField } from '@fulfilment/http-service';
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
export class OrdersFilter {
  @Description('The creator of the orders', creatorExample.uuid) @UuidField() creator: string;

  @Description(
    'Only orders with this `payment_status` or `dispatch_status`; `pending` matches either of them',
    'paid',
  )
  @IsOptional()
  @IsIn(statuses, { message: `must be one of ${statuses.join(', ')}` })
  status?: string;

  @DayFilter('Only orders placed on or after this day, in UTC', '2026-11-01') from?: string;
  @DayFilter('Only orders placed on or before this day, in UTC', '2026-11-30') to?: string;
  @AppFilter() app?: string;
}

/** Has the members of `NumberedPageDto` too, since a class cannot extend two. */
export class OrdersQuery extends OrdersFilter {
  @PageNumber() page: number = 1;
  @PageSize() per_page: number = 25;
}

function DayFilter(description: string, example: string): PropertyDecorator {
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
