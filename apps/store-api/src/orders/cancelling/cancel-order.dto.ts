import { Description } from '@fulfilment/api-reference';
import { TextField } from '@fulfilment/http-service';
import { IsOptional } from 'class-validator';

export class CancelOrderDto {
  @Description(
    'Why the order is cancelled, for the warehouse and for `order.cancelled`; `Cancelled by the merchant.` by default',
    'Ordered twice by mistake',
  )
  @IsOptional()
  @TextField({ max: 500 })
  reason?: string;
}
