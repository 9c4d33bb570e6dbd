import { registerDecorator } from 'class-validator';
import 'reflect-metadata';
import { z } from 'zod';
import type { Schema } from './schema.js';

export type Class = new () => object;

/** A check of a field and its documentation, in one place so that both change together. */
export interface FieldRule {
  readonly name: string;
  /** The check as JSON Schema. */
  readonly schema: Schema;
  readonly holds: (value: unknown) => boolean;
  /** The `reason` of the error detail. */
  readonly reason: (value: unknown) => string;
}

/** Validates a field by a rule with class-validator. `dtoSchema` reads the rule's schema. */
export function Field({ name, schema, holds, reason }: FieldRule): PropertyDecorator {
  return (target, field) => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(field),
      constraints: [schema],
      validator: { validate: holds, defaultMessage: (context) => reason(context?.value) },
    });
  };
}

const descriptionKey = 'reference:description';
const nestedDtoKey = 'reference:nested-dto';
const descriptionSchema = z.object({ text: z.string(), example: z.unknown() }).optional();
const nestedDtoSchema = z.custom<() => Class>((value) => typeof value === 'function').optional();

/** Describes a field of a DTO. Required: without it the reference cannot be generated. */
export function Description(text: string, example?: unknown): PropertyDecorator {
  return Reflect.metadata(descriptionKey, { text, example });
}

/** Names the DTO of the nested objects of a field: of its value, or of the items of its list. */
export function NestedDto(type: () => Class): PropertyDecorator {
  return Reflect.metadata(nestedDtoKey, type);
}

/** Returns the description of a field, and the DTO of its nested objects. */
export function documentationOf(dto: object, field: string) {
  return {
    description: descriptionSchema.parse(Reflect.getMetadata(descriptionKey, dto, field)),
    nestedDto: nestedDtoSchema.parse(Reflect.getMetadata(nestedDtoKey, dto, field))?.(),
  };
}
