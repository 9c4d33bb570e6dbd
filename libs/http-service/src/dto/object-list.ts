import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, registerDecorator, ValidateNested } from 'class-validator';

type Class = new () => object;

/** A list of objects of one DTO, within bounds. A list in the list is none of them, though class-validator would look into it. */
export function ObjectList(
  type: () => Class,
  { least = 0, most }: { least?: number; most: number },
): PropertyDecorator {
  return applyDecorators(
    IsArray(),
    ArrayMinSize(least),
    ArrayMaxSize(most),
    EachIsAnObject(),
    ValidateNested({ each: true }),
    Type(type),
  );
}

function EachIsAnObject(): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'eachIsAnObject',
      target: target.constructor,
      propertyName: String(property),
      validator: {
        validate: (value: unknown) =>
          Array.isArray(value) &&
          value.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item)),
        defaultMessage: () => 'must hold objects only',
      },
    });
  };
}
