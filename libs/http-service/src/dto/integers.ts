import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';

/** A JSON number without a fraction, within bounds: `1.0` is one, `"1"` and `1.5` are not. */
export function IntegerField(least: number, most: number): PropertyDecorator {
  return Field({
    name: 'integerField',
    schema: { type: 'integer', minimum: least, maximum: most },
    holds: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    reason: () => `must be an integer from ${least} to ${most}`,
  });
}

/** The same in a query, where it comes as digits, written in the one usual way. */
export function IntegerParameter(least: number, most: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^(0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : value,
    ),
    IntegerField(least, most),
  );
}
