import { Description } from '@fulfilment/api-reference';
import { orderStatuses, type OrderStatus } from '@fulfilment/contracts';
import { StorePageDto, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';

export class ListOrdersDto extends StorePageDto {
  @Description('Only orders that stand there now') @IsOptional() @IsIn(orderStatuses) status?: OrderStatus;

  @Description('Only orders of this shop system, exactly as it was sent', 'shopify')
  @IsOptional()
  @TextField({ min: 0, max: 255 })
  platform?: string;

  @Description('Only orders of this shop, exactly as it was sent', 'harbour-lights')
  @IsOptional()
  @TextField({ min: 0, max: 255 })
  store_id?: string;

  @Description("Only the order with this number of the shop's own, exactly as it was sent", '#1042')
  @IsOptional()
  @TextField({ min: 0, max: 255 })
  external_order_id?: string;
}
