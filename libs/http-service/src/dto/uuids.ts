import { isUuid } from '@fulfilment/contracts';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { registerDecorator } from 'class-validator';

/** A UUID in its usual form. Upper case is taken too (RFC 9562 §4) and becomes the lower case we store. */
export function UuidField(): PropertyDecorator {
  const lowerCase = Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? value.toLowerCase() : value,
  );
  const validate: PropertyDecorator = (target, property) => {
    registerDecorator({
      name: 'uuidField',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) => typeof value === 'string' && isUuid(value),
        defaultMessage: () => 'must be a UUID',
      },
    });
  };
  return applyDecorators(lowerCase, validate);
}
