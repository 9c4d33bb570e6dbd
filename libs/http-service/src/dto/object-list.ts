import { type Class, Field, Objects } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsObject, ValidateNested } from 'class-validator';

/** An object of one DTO. */
export function ObjectField(type: () => Class): PropertyDecorator {
  return applyDecorators(IsObject(), ValidateNested(), Type(type), Objects(type));
}

/** A list of objects of one DTO, within bounds. A list in the list is none of them, though class-validator would look into it. */
export function ObjectList(
  type: () => Class,
  { least = 0, most }: { least?: number; most: number },
): PropertyDecorator {
  return applyDecorators(
    IsArray(),
    ArrayMinSize(least),
    ArrayMaxSize(most),
    eachIsAnObject,
    ValidateNested({ each: true }),
    Type(type),
    Objects(type),
  );
}

const eachIsAnObject = Field({
  name: 'eachIsAnObject',
  schema: { type: 'array' },
  holds: (value) =>
    Array.isArray(value) &&
    value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item)),
  reason: () => 'must hold objects only',
});
