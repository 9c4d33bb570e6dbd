import { registerDecorator } from 'class-validator';
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

const descriptions = new WeakMap<object, Map<string, FieldDescription>>();
const objects = new WeakMap<object, Map<string, () => Class>>();

/** What a member of a DTO means. The reference cannot be made while one lacks it. */
export function Description(text: string, example?: unknown): PropertyDecorator {
  return (target, property) => keep(descriptions, target.constructor, String(property), { text, example });
}

/** Which DTO a member's object, or the objects of its list, are. */
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

/** What a class or one it extends says about a member. */
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
