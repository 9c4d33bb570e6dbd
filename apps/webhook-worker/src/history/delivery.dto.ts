import { type WebhookEvent, webhookEvents } from '@fulfilment/contracts';
import { StorePageDto } from '@fulfilment/http-service';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsOptional, registerDecorator } from 'class-validator';
import { type DeliveryStatus, deliveryStatuses, recoverable, type Recoverable } from './delivery.rules.js';

// RFC 3339 §5.6, with the offset that makes it a moment.
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

function DateTimeField(): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'dateTimeField',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' && dateTime.test(value) && !Number.isNaN(Date.parse(value)),
        defaultMessage: () => 'must be a date-time, like 2026-11-20T12:00:00Z',
      },
    });
  };
}

export class ListDeliveriesDto extends StorePageDto {
  @IsOptional()
  @IsIn(deliveryStatuses, { message: `must be one of ${deliveryStatuses.join(', ')}` })
  status?: DeliveryStatus;

  @IsOptional() @IsIn(webhookEvents, { message: 'must be the name of an event' }) event?: WebhookEvent;

  @IsOptional() @DateTimeField() created_after?: string;

  @IsOptional() @DateTimeField() created_before?: string;

  @IsOptional() @IsIn(['true', 'false'], { message: 'must be true or false' }) test?: 'true' | 'false';
}

export class SendTestEventDto {
  @IsOptional() @IsIn(webhookEvents, { message: 'must be the name of an event' }) event?: WebhookEvent;
}

export class RecoverDeliveriesDto {
  @DateTimeField() since: string;

  @IsOptional() @DateTimeField() until?: string;

  @IsIn(recoverable, { each: true, message: `must name only ${recoverable.join(' and ')}` })
  @ArrayMaxSize(10)
  @ArrayNotEmpty({ message: 'must name at least one status' })
  @IsArray({ message: 'must be an array of statuses' })
  statuses: Recoverable[] = [...recoverable];
}
