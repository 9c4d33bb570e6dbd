import { registerDecorator } from 'class-validator';
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

export interface FieldDescription {
  readonly text: string;
  readonly example?: unknown;
}

const descriptions = new WeakMap<object, Map<string, FieldDescription>>();
const objects = new WeakMap<object, Map<string, () => Class>>();

/** Describes a member of a DTO. Required: without it the reference cannot be generated. */
export function Description(text: string, example?: unknown): PropertyDecorator {
  return (target, property) => keep(descriptions, target.constructor, String(property), { text, example });
}

/** Names the DTO of a member's object or list. */
export function Objects(type: () => Class): PropertyDecorator {
  return (target, property) => keep(objects, target.constructor, String(property), type);
}

export function descriptionOf(dto: Class, property: string): FieldDescription | undefined {
  return find(descriptions, dto, property);
}

export function objectsOf(dto: Class, property: string): Class | undefined {
  return find(objects, dto, property)?.();
}

function keep<Said>(
  place: WeakMap<object, Map<string, Said>>,
  dto: object,
  property: string,
  said: Said,
): void {
  place.set(dto, new Map([...(place.get(dto) ?? []), [property, said]]));
}

/** The metadata of a member, from the class or a base class. */
function find<Said>(
  place: WeakMap<object, Map<string, Said>>,
  dto: Class,
  property: string,
): Said | undefined {
  let current: unknown = dto;
  while (typeof current === 'function') {
    const said = place.get(current)?.get(property);
    if (said !== undefined) return said;
    current = Object.getPrototypeOf(current);
  }
  return undefined;
}
