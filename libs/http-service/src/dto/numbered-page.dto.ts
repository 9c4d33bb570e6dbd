import { IsOptional } from 'class-validator';
import { IntegerParameter } from './integers.js';

/** What every Creator list takes. */
export class NumberedPageDto {
  @IsOptional() @IntegerParameter(1, 10_000) page: number = 1;
  @IsOptional() @IntegerParameter(1, 100) per_page: number = 25;
}
