import { Description } from '@fulfilment/api-reference';
import type { Currency } from '@fulfilment/contracts';
import { DateTimeField, StorePageDto, TextField } from '@fulfilment/http-service';
import { IsIn, IsOptional } from 'class-validator';
import { CurrencyParameter } from '../currency.dto.js';

const releaseFormats = ['summary', 'detailed'] as const;
type ReleaseFormat = (typeof releaseFormats)[number];

export class ListReleasesDto extends StorePageDto {
  @CurrencyParameter() currency: Currency = 'GBP';

  @Description(
    'Only releases whose name or artists contain this text, ignoring case; `%` and `_` have no special meaning',
    'quiet',
  )
  @IsOptional()
  @TextField({ min: 0, max: 200 })
  search?: string;

  @Description('Only releases created after this time', '2026-11-20T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_after?: string;

  @Description('Only releases created before this time', '2026-11-21T12:00:00Z')
  @IsOptional()
  @DateTimeField()
  created_before?: string;

  @Description('`detailed` adds the description, copyright, status, creation time and products')
  @IsOptional()
  @IsIn(releaseFormats)
  format: ReleaseFormat = 'summary';
}
