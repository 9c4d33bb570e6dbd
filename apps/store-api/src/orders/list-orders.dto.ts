import { orderStatuses, type OrderStatus } from '@fulfilment/contracts';
import { StorePageDto, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';

export class ListOrdersDto extends StorePageDto {
  @IsOptional() @IsIn(orderStatuses) status?: OrderStatus;
  @IsOptional() @TextField({ least: 0, most: 255 }) platform?: string;
  @IsOptional() @TextField({ least: 0, most: 255 }) store_id?: string;
  @IsOptional() @TextField({ least: 0, most: 255 }) external_order_id?: string;
}
