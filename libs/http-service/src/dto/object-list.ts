import { type Class, NestedDto } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform, Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsObject, ValidateNested } from 'class-validator';

/** An object that is validated by a DTO. */
export function ObjectField(type: () => Class): PropertyDecorator {
  return applyDecorators(IsObject(), ValidateNested(), Type(type), NestedDto(type));
}

/** A list of objects of a DTO, within bounds. Errors name an invalid element by its index (`items.2`). */
export function ObjectList(
  type: () => Class,
  { min = 0, max }: { min?: number; max: number },
): PropertyDecorator {
  return applyDecorators(
    IsArray(),
    ArrayMinSize(min),
    ArrayMaxSize(max),
    ValidateNested({ each: true, message: 'must be an object' }),
    replaceUnvalidatable(max),
    Type(type),
    NestedDto(type),
  );
}

/**
 * class-validator accepts null as an object and descends into nested lists, so both are replaced by a value
 * that it rejects. It validates all elements of a list that is too long, so only one too many is kept.
 */
const replaceUnvalidatable = (max: number): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    Array.isArray(value)
      ? value.slice(0, max + 1).map((item: unknown) => (item === null || Array.isArray(item) ? false : item))
      : value,
  );
