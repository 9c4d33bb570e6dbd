import { Description, Field } from '@fulfilment/api-reference';
import { parsePublicId, type WebhookEvent, webhookEvents } from '@fulfilment/contracts';
import { DateTimeField, IntegerParameter, StorePageDto } from '@fulfilment/http-service';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsOptional } from 'class-validator';
import { type DeliveryStatus, deliveryStatuses } from '../delivery/delivery-state.js';
import { eventUuid } from '../delivery/event-public-id.js';
import { maxHealthHours, recoverableStatuses, type RecoverableStatus } from './history.rules.js';

/** Larger than the number of statuses, since repeated statuses are accepted and have no effect. */
const maxListedStatuses = 10;

function IdFilter(target: string, parse: (text: string) => string | undefined): PropertyDecorator {
  return Field({
    name: 'idFilter',
    schema: { type: 'string' },
    holds: (value) => typeof value === 'string' && parse(value) !== undefined,
    reason: () => `must be the id of ${target}`,
  });
}

export class ListDeliveriesDto extends StorePageDto {
  @Description('Only deliveries with this current status')
  @IsOptional()
  @IsIn(deliveryStatuses, { message: `must be one of ${deliveryStatuses.join(', ')}` })
  status?: DeliveryStatus;

  @Description('Only deliveries of this event')
  @IsOptional()
  @IsIn(webhookEvents, { message: 'must be the name of an event' })
  event?: WebhookEvent;

  @Description('Only deliveries of the event with this id, as in the body', 'evt_01m7xwmx3fyb2a9s6d4k8q1r7c')
  @IsOptional()
  @IdFilter('an event', eventUuid)
  event_id?: string;

  @Description('Only deliveries of events about this order', 'ord_01m7xwmx3fyb2a9s6d4k8q1r7c')
  @IsOptional()
  @IdFilter('an order', (text) => parsePublicId('ord', text))
  order_id?: string;

  @Description('Only deliveries of events about this product', 'prod_01m7xwmx3fyb2a9s6d4k8q1r7c')
  @IsOptional()
  @IdFilter('a product', (text) => parsePublicId('prod', text))
  product_id?: string;

  @Description('Only deliveries created after this time', '2026-11-20T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_after?: string;

  @Description('Only deliveries created before this time', '2026-11-21T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_before?: string;

  @Description('`true` for test events only, `false` for real events only')
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  test?: 'true' | 'false';
}

export class ListOrderDeliveriesDto extends StorePageDto {
  @Description('The order', 'ord_01m7xwmx3fyb2a9s6d4k8q1r7c')
  @IdFilter('an order', (text) => parsePublicId('ord', text))
  order_id: string;
}

export class ReadHealthDto {
  @Description('Length of the period in hours; it ends now', 24)
  @IsOptional()
  @IntegerParameter(1, maxHealthHours)
  hours: number = 24;
}

export class SendTestEventDto {
  @Description(
    'The event to send; the subscription need not include it. By default the first event of the subscription',
  )
  @IsOptional()
  @IsIn(webhookEvents, { message: 'must be the name of an event' })
  event?: WebhookEvent;
}

export class RecoverDeliveriesDto {
  @Description('Only deliveries created at or after this time') @DateTimeField() since: string;

  @Description(
    'Only deliveries created at or before this time; must not be before `since`. By default the current time',
  )
  @IsOptional()
  @DateTimeField()
  until?: string;

  @Description('Only deliveries with one of these statuses')
  @IsIn(recoverableStatuses, { each: true, message: `must name only ${recoverableStatuses.join(' and ')}` })
  @ArrayMaxSize(maxListedStatuses)
  @ArrayNotEmpty({ message: 'must name at least one status' })
  @IsArray({ message: 'must be an array of statuses' })
  statuses: RecoverableStatus[] = [...recoverableStatuses];
}
