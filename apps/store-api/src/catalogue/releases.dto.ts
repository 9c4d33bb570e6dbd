import { Description } from '@fulfilment/api-reference';
import { currencies, type Currency } from '@fulfilment/contracts';
import { StorePageDto, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';

export const releaseFormats = ['summary', 'detailed'] as const;
export type ReleaseFormat = (typeof releaseFormats)[number];

export class ListReleasesDto extends StorePageDto {
  @Description('Of the prices') @IsOptional() @IsIn(currencies) currency: Currency = 'GBP';

  @Description(
    'Only releases with this in their name or artists, in upper or lower case; `%` and `_` mean themselves',
    'quiet',
  )
  @IsOptional()
  @TextField({ min: 0, max: 200 })
  search?: string;

  @Description(
    '`detailed` adds what the full view has: description, copyright, status, creation and products',
  )
  @IsOptional()
  @IsIn(releaseFormats)
  format: ReleaseFormat = 'summary';
}
