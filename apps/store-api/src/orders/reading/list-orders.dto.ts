import { Description } from '@fulfilment/api-reference';
import { orderStatuses, type OrderStatus } from '@fulfilment/contracts';
import { DateTimeField, StorePageDto, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';

export class ListOrdersDto extends StorePageDto {
  @Description('Only orders with this current status')
  @IsOptional()
  @IsIn(orderStatuses)
  status?: OrderStatus;

  @Description('Only orders with this `source.platform`, as sent', 'shopify')
  @IsOptional()
  @TextField({ min: 0, max: 255 })
  platform?: string;

  @Description('Only orders with this `source.store_id`, as sent', 'harbour-lights')
  @IsOptional()
  @TextField({ min: 0, max: 255 })
  store_id?: string;

  @Description('Only orders with this `source.external_order_id`, as sent', '#1042')
  @IsOptional()
  @TextField({ min: 0, max: 255 })
  external_order_id?: string;

  @Description('Only orders created after this time', '2026-11-20T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_after?: string;

  @Description('Only orders created before this time', '2026-11-21T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_before?: string;

  @Description(
    'Only orders whose `updated_at` is at or after this time. The list is then in the order of `updated_at`, oldest change first',
    '2026-11-20T12:00:00Z',
  )
  @IsOptional()
  @DateTimeField()
  updated_since?: string;
}
