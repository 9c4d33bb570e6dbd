import { Description } from '@fulfilment/api-reference';
import { currencies, type Currency, maxAmount } from '@fulfilment/contracts';
import { IntegerField, ObjectField, ObjectList, TextField, TextMapField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';
import { countriesRequiringProvince } from './placing/address.rules.js';
import { CountryCodeField } from '../shipping/country-code.js';

const list = new Intl.ListFormat('en-GB');

class MoneyDto {
  @Description('In minor units of the currency: 2999 GBP is £29.99, 2999 JPY is ¥2999')
  @IntegerField(0, maxAmount)
  amount: number;

  @Description('ISO 4217. All items must have the currency of the quoted rate')
  @IsIn(currencies)
  currency: Currency;
}

export class OrderItemDto {
  @Description('The product: the `id` of one of the `products` of a release')
  @TextField({ max: 255 })
  sku: string;

  @Description('Number of pieces. The same product may be on several lines')
  @IntegerField(1, 1000)
  quantity: number;

  @Description('Price that the merchant charged the customer for one piece')
  @ObjectField(() => MoneyDto)
  unit_price: MoneyDto;
}

class AddressDto {
  @Description('Name of the recipient') @TextField({ max: 100 }) full_name: string;

  @Description('Company of the recipient')
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  company?: string;

  @Description('Street and number') @TextField({ max: 100 }) address_line_1: string;

  @Description('Second address line')
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  address_line_2?: string;

  @Description('City or town; required in most countries')
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  city?: string;

  @Description('Postal code; required in many countries')
  @IsOptional()
  @TextField({ min: 0, max: 20 })
  postal_code?: string;

  @Description(`State, province or prefecture; required in ${list.format(countriesRequiringProvince)}`)
  @IsOptional()
  @TextField({ min: 0, max: 100 })
  province_code?: string;

  @Description('Officially assigned ISO 3166-1 alpha-2 code, in upper or lower case')
  @CountryCodeField()
  country_code: string;
}

class SourceDto {
  @Description('The shop platform; `api` by default')
  @IsOptional()
  @TextField({ max: 255 })
  platform?: string;

  @Description('The shop; the client id by default')
  @IsOptional()
  @TextField({ max: 255 })
  store_id?: string;

  @Description('Order number in the shop; the id of the order by default')
  @IsOptional()
  @TextField({ max: 255 })
  external_order_id?: string;
}

export class PlaceOrderDto {
  @Description('Products to order')
  @ObjectList(() => OrderItemDto, { min: 1, max: 100 })
  items: OrderItemDto[];

  @Description(
    'Where to ship the order. The required members depend on the country; a value without visible characters counts as empty',
  )
  @ObjectField(() => AddressDto)
  shipping_address: AddressDto;

  @Description('The `id` of a shipping rate that was quoted for this country within the last 24 hours')
  @TextField({ max: 255 })
  shipping_rate_id: string;

  @Description('The shop in which the order was placed')
  @IsOptional()
  @ObjectField(() => SourceDto)
  source?: SourceDto;

  @Description(
    'Your own keys and values, returned with the order and in its webhook events. Do not put personal data into it: every subscription to the events receives it',
    { cart: 'c_8841', campaign: 'autumn' },
  )
  @IsOptional()
  @TextMapField({ maxKeys: 50, maxKeyLength: 40, maxValueLength: 500 })
  metadata?: Record<string, string>;
}
