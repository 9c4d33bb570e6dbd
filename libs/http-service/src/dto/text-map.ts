import { Field } from '@fulfilment/api-reference';
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { unpairedSurrogate, textProblem } from './texts.js';

/** Control characters except tab and line breaks, which values may contain. */
// eslint-disable-next-line no-control-regex -- it matches control characters
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

export interface TextMapBounds {
  readonly maxKeys: number;
  /** In Unicode code points. */
  readonly maxKeyLength: number;
  /** In Unicode code points. */
  readonly maxValueLength: number;
}

/** An object of texts, whose keys the client chooses. The reason of an error names a key, never a value. */
export function TextMapField({ maxKeys, maxKeyLength, maxValueLength }: TextMapBounds): PropertyDecorator {
  const problemOfMember = ([key, value]: [string, unknown]): string | undefined => {
    const keyProblem = textProblem(key, 1, maxKeyLength);
    if (keyProblem !== undefined) return `has a key that ${keyProblem}`;
    if (typeof value !== 'string') return `has a value of "${key}" that must be a string`;
    if (unprintable.test(value)) return `has a value of "${key}" that must not contain control characters`;
    if (unpairedSurrogate.test(value))
      return `has a value of "${key}" that must not contain unpaired surrogates`;
    return [...value].length > maxValueLength
      ? `has a value of "${key}" that must be at most ${maxValueLength} characters`
      : undefined;
  };
  const problemWith = (map: unknown): string | undefined => {
    if (typeof map !== 'object' || map === null || Array.isArray(map)) return 'must be an object of strings';
    const members = Object.entries(map);
    if (members.length > maxKeys) return `must have at most ${maxKeys} keys`;
    return members.map(problemOfMember).find((problem) => problem !== undefined);
  };
  const validation = Field({
    name: 'textMapField',
    schema: {
      type: 'object',
      maxProperties: maxKeys,
      propertyNames: { minLength: 1, maxLength: maxKeyLength },
      additionalProperties: { type: 'string', maxLength: maxValueLength },
    },
    holds: (value) => problemWith(value) === undefined,
    reason: (value) => problemWith(value) ?? 'is not valid',
  });
  return applyDecorators(validation, keepInheritedNames);
}

/** class-transformer's own copy lacks keys such as `toString`, which every object inherits. */
const keepInheritedNames = Transform(({ obj, key }: { obj: object; key: string }): unknown =>
  Reflect.get(obj, key),
);
