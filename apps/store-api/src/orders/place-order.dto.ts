import { currencies, type Currency, maxAmount } from '@fulfilment/contracts';
import { IntegerField, ObjectList, TextField } from '@fulfilment/http-service';
import { Transform, Type } from 'class-transformer';
import { IsIn, IsObject, IsOptional, ValidateNested } from 'class-validator';
import { IsCountryCode } from './country-code.js';

export class MoneyDto {
  @IntegerField(0, maxAmount) amount: number;
  @IsIn(currencies) currency: Currency;
}

export class OrderItemDto {
  @TextField({ most: 255 }) sku: string;
  @IntegerField(1, 1000) quantity: number;
  @IsObject() @ValidateNested() @Type(() => MoneyDto) unit_price: MoneyDto;
}

export class AddressDto {
  @TextField({ most: 100 }) full_name: string;
  @IsOptional() @TextField({ least: 0, most: 100 }) company?: string;
  @TextField({ most: 100 }) address_line_1: string;
  @IsOptional() @TextField({ least: 0, most: 100 }) address_line_2?: string;
  @IsOptional() @TextField({ least: 0, most: 100 }) city?: string;
  @IsOptional() @TextField({ least: 0, most: 20 }) postal_code?: string;
  @IsOptional() @TextField({ least: 0, most: 100 }) province_code?: string;

  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value))
  @IsCountryCode()
  country_code: string;
}

export class SourceDto {
  @IsOptional() @TextField({ most: 255 }) platform?: string;
  @IsOptional() @TextField({ most: 255 }) store_id?: string;
  @IsOptional() @TextField({ most: 255 }) external_order_id?: string;
}

export class PlaceOrderDto {
  @ObjectList(() => OrderItemDto, { least: 1, most: 100 }) items: OrderItemDto[];

  @IsObject() @ValidateNested() @Type(() => AddressDto) shipping_address: AddressDto;
  @TextField({ most: 255 }) shipping_rate_id: string;
  @IsOptional() @IsObject() @ValidateNested() @Type(() => SourceDto) source?: SourceDto;
}
