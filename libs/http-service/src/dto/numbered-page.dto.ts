import { Description } from '@fulfilment/api-reference';
import { IsOptional } from 'class-validator';
import { IntegerParameter } from './integers.js';

const maxPage = 10_000; // the cost of a page grows with its number

/** Query parameters of the paged lists of the Creator API. */
export class NumberedPageDto {
  @Description('Number of the page, from 1', 1)
  @IsOptional()
  @IntegerParameter(1, maxPage)
  page: number = 1;

  @Description('Maximum number of items per page', 25)
  @IsOptional()
  @IntegerParameter(1, 100)
  per_page: number = 25;
}
