import { Description } from '@fulfilment/api-reference';
import { type WebhookEvent, webhookEvents } from '@fulfilment/contracts';
import { DateTimeField, StorePageDto } from '@fulfilment/http-service';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsOptional } from 'class-validator';
import { type DeliveryStatus, deliveryStatuses } from '../delivery/delivery.rules.js';
import { recoverable, type Recoverable } from './history.rules.js';

export class ListDeliveriesDto extends StorePageDto {
  @Description('Only deliveries that have this status now')
  @IsOptional()
  @IsIn(deliveryStatuses, { message: `must be one of ${deliveryStatuses.join(', ')}` })
  status?: DeliveryStatus;

  @Description('Only deliveries of this event')
  @IsOptional()
  @IsIn(webhookEvents, { message: 'must be the name of an event' })
  event?: WebhookEvent;

  @Description('Only deliveries made after this', '2026-11-20T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_after?: string;

  @Description('Only deliveries made before this', '2026-11-21T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_before?: string;

  @Description('Only test events, or only real ones')
  @IsOptional()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  test?: 'true' | 'false';
}

export class SendTestEventDto {
  @Description('Which to send, subscribed to or not; without it, the first that is subscribed to')
  @IsOptional()
  @IsIn(webhookEvents, { message: 'must be the name of an event' })
  event?: WebhookEvent;
}

export class RecoverDeliveriesDto {
  @Description('Deliveries made then or later') @DateTimeField() since: string;

  @Description('… and then or earlier; without it, until now. Not before `since`')
  @IsOptional()
  @DateTimeField()
  until?: string;

  @Description('Which of them')
  @IsIn(recoverable, { each: true, message: `must name only ${recoverable.join(' and ')}` })
  @ArrayMaxSize(10)
  @ArrayNotEmpty({ message: 'must name at least one status' })
  @IsArray({ message: 'must be an array of statuses' })
  statuses: Recoverable[] = [...recoverable];
}
