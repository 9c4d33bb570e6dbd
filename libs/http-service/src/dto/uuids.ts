import { Field } from '@fulfilment/api-reference';
import { isUuid } from '@fulfilment/contracts';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

/** A UUID with hyphens. Upper case is accepted (RFC 9562 §4) and converted to the stored lower case. */
export function UuidField(): PropertyDecorator {
  const convert = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.toLowerCase() : value,
  );
  const check = Field({
    name: 'uuidField',
    schema: { type: 'string', format: 'uuid' },
    holds: (value) => typeof value === 'string' && isUuid(value),
    reason: () => 'must be a UUID',
  });
  return applyDecorators(convert, check);
}
