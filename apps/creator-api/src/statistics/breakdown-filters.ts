import { Description } from '@fulfilment/api-reference';
import { TextField, UuidField } from '@fulfilment/http-service';
import { applyDecorators } from '@nestjs/common';
import { IsOptional, Matches } from 'class-validator';

// Optional query parameters of series and ledger lines. Lists and exports of orders have only `AppFilter`.

export function ReleaseFilter(): PropertyDecorator {
  return applyDecorators(
    Description(
      'Only this release: a `release_group` of the statistics',
      '019a7f2e-0c11-7d22-8e33-4f5566778899',
    ),
    IsOptional(),
    UuidField(),
  );
}

export function ProductTypeFilter(): PropertyDecorator {
  return textFilter('Only products of this type', 'vinyl_12_lp');
}

export function CountryFilter(): PropertyDecorator {
  return applyDecorators(
    Description('Only orders to this country, ISO 3166-1 alpha-2', 'DE'),
    IsOptional(),
    Matches(/^[A-Z]{2}$/, { message: 'must be two capital letters' }),
  );
}

export function PlatformFilter(): PropertyDecorator {
  return textFilter('Only orders whose `source` names this platform', 'shopify');
}

/** The `client_id` of an OAuth client. */
export function AppFilter(): PropertyDecorator {
  return textFilter('Only orders that this app placed: its `client_id`', 'app_reader');
}

function textFilter(description: string, example: string): PropertyDecorator {
  return applyDecorators(Description(description, example), IsOptional(), TextField({ max: 255 }));
}
