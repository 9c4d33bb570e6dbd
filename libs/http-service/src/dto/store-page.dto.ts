import { Description } from '@fulfilment/api-reference';
import { IsOptional } from 'class-validator';
import { IntegerParameter } from './integers.js';
import { TextField } from './texts.js';

/** Query parameters of all lists of the Store API. */
export class StorePageDto {
  @Description('How many a page holds at most', 25)
  @IsOptional()
  @IntegerParameter(1, 100)
  limit: number = 25;

  @Description(
    'Where the page begins: the `next_cursor` of the page before. Opaque, and good only for the same list with the same filters, by the same creator',
  )
  @IsOptional()
  @TextField({ max: 200 })
  cursor?: string;
}
