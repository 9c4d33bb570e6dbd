import { IsOptional } from 'class-validator';
import { IntegerParameter } from './integers.js';
import { TextField } from './texts.js';

/** What every Store list takes. */
export class StorePageDto {
  @IsOptional() @IntegerParameter(1, 100) limit: number = 25;
  @IsOptional() @TextField({ most: 200 }) cursor?: string;
}
