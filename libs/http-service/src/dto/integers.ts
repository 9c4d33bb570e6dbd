import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { registerDecorator } from 'class-validator';

function isIntegerBetween(value: unknown, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** A JSON number without a fraction, within bounds: `1.0` is one, `"1"` and `1.5` are not. */
export function IntegerField(least: number, most: number): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'integerField',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) => isIntegerBetween(value, least, most),
        defaultMessage: () => `must be an integer from ${least} to ${most}`,
      },
    });
  };
}

/** The same in a query, where it comes as digits. */
export function IntegerParameter(least: number, most: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value,
    ),
    IntegerField(least, most),
  );
}
