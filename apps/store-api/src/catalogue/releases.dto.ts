import { StorePageDto, TextField } from '@fulfilment/http-service';
import { currencies, type Currency } from '@fulfilment/contracts';
import { IsIn, IsOptional } from 'class-validator';

export const releaseFormats = ['summary', 'detailed'] as const;
export type ReleaseFormat = (typeof releaseFormats)[number];

export class ListReleasesDto extends StorePageDto {
  @IsOptional() @IsIn(currencies) currency: Currency = 'GBP';
  @IsOptional() @TextField({ least: 0, most: 200 }) search?: string;
  @IsOptional() @IsIn(releaseFormats) format: ReleaseFormat = 'summary';
}
