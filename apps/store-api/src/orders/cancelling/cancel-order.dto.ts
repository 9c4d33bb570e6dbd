import { Description } from '@fulfilment/api-reference';
import { TextField } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';

export class CancelOrderDto {
  @Description(
    'Why the order is cancelled, for the warehouse and for `order.cancelled`; `Cancelled by the merchant.` by default. Do not put personal data into it: every subscription to the event receives it',
    'Ordered twice by mistake',
  )
  @IsOptional()
  @TextField({ max: 500 })
  reason?: string;
}
