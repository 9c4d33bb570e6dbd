import { Description } from '@fulfilment/api-reference';
import { currencies, type Currency, maxAmount } from '@fulfilment/contracts';
import { IntegerField, ObjectField, ObjectList, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';
import { IsCountryCode, UpperCaseCode } from './country-code.js';

export class MoneyDto {
  @Description('In minor units of the currency: 2999 GBP is £29.99, 2999 JPY is ¥2999')
  @IntegerField(0, maxAmount)
  amount: number;

  @Description('ISO 4217; one for the whole order, that of the quoted rate')
  @IsIn(currencies)
  currency: Currency;
}

export class OrderItemDto {
  @Description("The product to send: the `id` of one of a release's `products`")
  @TextField({ max: 255 })
  sku: string;

  @Description('Pieces. The same product may stand on two lines: stock is taken for the sum')
  @IntegerField(1, 1000)
  quantity: number;

  @Description('What the merchant charged the customer for one')
  @ObjectField(() => MoneyDto)
  unit_price: MoneyDto;
}

export class AddressDto {
  @Description('Who receives it') @TextField({ max: 100 }) full_name: string;

  @Description('Their company')
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  company?: string;

  @Description('Street and number') @TextField({ max: 100 }) address_line_1: string;

  @Description('What does not fit into the first line')
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  address_line_2?: string;

  @Description('City or town; required by most countries')
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  city?: string;

  @Description('Postal code; required where the country needs one')
  @IsOptional()
  @TextField({ min: 0, max: 20 })
  postal_code?: string;

  @Description('State, province or prefecture; required in US, CA, AU, JP, BR and MX')
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  province_code?: string;

  @Description('ISO 3166-1 alpha-2, officially assigned; lower case is taken too')
  @UpperCaseCode()
  @IsCountryCode()
  country_code: string;
}

export class SourceDto {
  @Description('The shop system; `api` when left out')
  @IsOptional()
  @TextField({ max: 255 })
  platform?: string;

  @Description("The shop; the client's id when left out")
  @IsOptional()
  @TextField({ max: 255 })
  store_id?: string;

  @Description("The shop's own number of the order; the order's id when left out")
  @IsOptional()
  @TextField({ max: 255 })
  external_order_id?: string;
}

export class PlaceOrderDto {
  @Description('What to send')
  @ObjectList(() => OrderItemDto, { min: 1, max: 100 })
  items: OrderItemDto[];

  @Description('Where to send it. What is required depends on the country; white space alone counts as empty')
  @ObjectField(() => AddressDto)
  shipping_address: AddressDto;

  @Description('How to send it: the `id` of a rate quoted within the last 24 hours for this country')
  @TextField({ max: 255 })
  shipping_rate_id: string;

  @Description('Where the order came from')
  @IsOptional()
  @ObjectField(() => SourceDto)
  source?: SourceDto;
}
