import { registerDecorator } from 'class-validator';
import 'reflect-metadata';
import type { Schema } from './schema.js';

export type Class = new () => object;

/** A check of one member and what the reference says about it, in one place so that neither changes without the other. */
export interface FieldRule {
  readonly name: string;
  /** What the check demands, as JSON Schema. */
  readonly schema: Schema;
  readonly holds: (value: unknown) => boolean;
  /** The `reason` of the error detail. */
  readonly reason: (value: unknown) => string;
}

/** class-validator's check of a member by a rule; the rule's schema is what `dtoSchema` reads. */
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

export interface FieldDescription {
  readonly text: string;
  readonly example?: unknown;
}

const descriptionKey = 'reference:description';
const objectsKey = 'reference:objects';

/** What a member of a DTO means. The reference cannot be made while one lacks it. */
export function Description(text: string, example?: unknown): PropertyDecorator {
  return (target, property) => {
    Reflect.defineMetadata(descriptionKey, { text, example }, target, property);
  };
}

/** Which DTO a member's object, or the objects of its list, are. */
export function Objects(type: () => Class): PropertyDecorator {
  return (target, property) => {
    Reflect.defineMetadata(objectsKey, type, target, property);
  };
}

export function descriptionOf(prototype: object, property: string): FieldDescription | undefined {
  const described: FieldDescription | undefined = Reflect.getMetadata(descriptionKey, prototype, property);
  return described;
}

export function objectsOf(prototype: object, property: string): Class | undefined {
  const type: (() => Class) | undefined = Reflect.getMetadata(objectsKey, prototype, property);
  return type?.();
}
