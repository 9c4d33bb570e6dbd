import { registerDecorator } from 'class-validator';
import 'reflect-metadata';
import { z } from 'zod';
import type { Schema } from './schema.js';

export type Class = new () => object;

/** A check of a member and its documentation, in one place so that both change together. */
export interface FieldRule {
  readonly name: string;
  /** The check as JSON Schema. */
  readonly schema: Schema;
  readonly holds: (value: unknown) => boolean;
  /** The `reason` of the error detail. */
  readonly reason: (value: unknown) => string;
}

/** Validates a member by a rule with class-validator. `dtoSchema` reads the rule's schema. */
export function Field({ name, schema, holds, reason }: FieldRule): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(property),
      constraints: [schema],
      validator: { validate: holds, defaultMessage: (context) => reason(context?.value) },
    });
  };
}

const descriptionKey = 'reference:description';
const objectsKey = 'reference:objects';
const description = z.object({ text: z.string(), example: z.unknown() }).optional();
const objects = z.custom<() => Class>((value) => typeof value === 'function').optional();

/** Describes a member of a DTO. Required: without it the reference cannot be generated. */
export function Description(text: string, example?: unknown): PropertyDecorator {
  return Reflect.metadata(descriptionKey, { text, example });
}

/** Names the DTO of a member's object or list. */
export function Objects(type: () => Class): PropertyDecorator {
  return Reflect.metadata(objectsKey, type);
}

/** The description of a member, and the DTO of its objects. */
export function documentationOf(dto: object, property: string) {
  return {
    described: description.parse(Reflect.getMetadata(descriptionKey, dto, property)),
    inner: objects.parse(Reflect.getMetadata(objectsKey, dto, property))?.(),
  };
}
