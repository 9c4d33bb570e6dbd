import { type Class, Objects } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform, Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsObject, ValidateNested } from 'class-validator';

/** An object of one DTO. */
export function ObjectField(type: () => Class): PropertyDecorator {
  return applyDecorators(IsObject(), ValidateNested(), Type(type), Objects(type));
}

/** A list of objects of one DTO, within bounds. What is none is named by its place (`items.2`). */
export function ObjectList(
  type: () => Class,
  { least = 0, most }: { least?: number; most: number },
): PropertyDecorator {
  return applyDecorators(
    IsArray(),
    ArrayMinSize(least),
    ArrayMaxSize(most),
    ValidateNested({ each: true, message: 'must be an object' }),
    validatable(most),
    Type(type),
    Objects(type),
  );
}

/**
 * class-validator takes null for an object, and looks into a list in the list: both become what it rejects. It also walks
 * every element of a list that is too long: one element too many is enough to reject it.
 */
const validatable = (most: number): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    Array.isArray(value)
      ? value.slice(0, most + 1).map((item: unknown) => (item === null || Array.isArray(item) ? false : item))
      : value,
  );
