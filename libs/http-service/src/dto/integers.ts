import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

/** An integer within bounds: accepts `1.0`, rejects `"1"` and `1.5`. */
export function IntegerField(min: number, max: number): PropertyDecorator {
  return Field({
    name: 'integerField',
    schema: { type: 'integer', minimum: min, maximum: max },
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max,
    reason: () => `must be an integer from ${min} to ${max}`,
  });
}

/** An integer in a query, in decimal digits without a plus sign or leading zeros. */
export function IntegerParameter(min: number, max: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^(0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : value,
    ),
    IntegerField(min, max),
  );
}
