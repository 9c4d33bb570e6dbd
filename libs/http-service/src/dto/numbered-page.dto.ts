import { Description } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { IntegerParameter } from './integers.js';

const maxPage = 10_000; // the cost of a page grows with its number

export function PageNumber(): PropertyDecorator {
  return applyDecorators(
    Description('Number of the page, from 1', 1),
    IsOptional(),
    IntegerParameter(1, maxPage),
  );
}

export function PageSize(): PropertyDecorator {
  return applyDecorators(
    Description('Maximum number of items per page', 25),
    IsOptional(),
    IntegerParameter(1, 100),
  );
}

/** Query parameters of the paged lists of the Creator API. */
export class NumberedPageDto {
  @PageNumber() page: number = 1;
  @PageSize() per_page: number = 25;
}
