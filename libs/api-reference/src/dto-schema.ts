import { getMetadataStorage } from 'class-validator';
import { z } from 'zod';
import { type Class, descriptionOf, objectsOf } from './field.js';
import { componentRef, type Schema, schemaShape } from './schema.js';

type Check = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/** Schema of a DTO, and the DTOs of its members. */
export interface DtoSchema {
  readonly schema: Schema;
  readonly holds: readonly Class[];
}

/**
 * The JSON Schema of a DTO, from the decorators that validate it.
 * @throws Error for a member without a description or with an unknown check
 */
export function dtoSchema(dto: Class): DtoSchema {
  const checks = Map.groupBy(
    getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false),
    ({ propertyName }) => propertyName,
  );
  const defaults = new Map(Object.entries(new dto()));
  const holds: Class[] = [];
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const [name, given] of [...checks].sort(byPlaceIn(dto))) {
    const described = descriptionOf(dto, name);
    if (described === undefined) throw new Error(`${dto.name}.${name} has no @Description().`);
    const inner = objectsOf(dto, name);
    if (inner !== undefined) holds.push(inner);
    const byDefault: unknown = defaults.get(name);
    properties[name] = {
      ...memberSchema(given, inner, `${dto.name}.${name}`),
      description: described.text,
      ...(byDefault === undefined ? {} : { default: byDefault }),
      ...(described.example === undefined ? {} : { examples: [described.example] }),
    };
    if (byDefault === undefined && !given.some(isOptional)) required.push(name);
  }
  return {
    schema: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) },
    holds,
  };
}

/** Component name of a DTO. */
export function dtoName(dto: Class): string {
  return dto.name.replace(/Dto$/, 'Request');
}

/** Inherited members last, so that a list's own parameters come before those of the page. */
function byPlaceIn(dto: Class) {
  const place = ([, [first]]: [string, Check[]]): number => (first?.target === dto ? 0 : 1);
  return (one: [string, Check[]], other: [string, Check[]]): number => place(one) - place(other);
}

function isOptional({ name, type }: Check): boolean {
  return name === 'isOptional' || type === 'conditionalValidation';
}

function memberSchema(checks: readonly Check[], inner: Class | undefined, member: string): Schema {
  const held = inner === undefined ? undefined : componentRef(dtoName(inner));
  const together = (some: readonly Check[]): Schema =>
    some.reduce<Schema>((sum, check) => ({ ...sum, ...checkSchema(check, member) }), {});
  const whole = together(checks.filter(({ each }) => !each));
  if (whole.type !== 'array') return held ?? whole;
  return { ...whole, items: held ?? { ...whole.items, ...together(checks.filter(({ each }) => each)) } };
}

/** class-validator's own checks that our DTOs use. Our own checks define their schema in `Field`. */
const known: Readonly<Record<string, (constraint: unknown) => Schema>> = {
  isOptional: () => ({}),
  nestedValidation: () => ({}),
  isString: () => ({ type: 'string' }),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  arrayNotEmpty: () => ({ minItems: 1 }),
  arrayMinSize: (min) => (min === 0 ? {} : { minItems: Number(min) }),
  arrayMaxSize: (max) => ({ maxItems: Number(max) }),
  isIn: (values) => ({ type: 'string', enum: z.array(z.unknown()).parse(values) }),
  matches: (pattern) => ({ type: 'string', pattern: pattern instanceof RegExp ? pattern.source : '' }),
};

function checkSchema(check: Check, member: string): Schema {
  const name = isOptional(check) ? 'isOptional' : (check.name ?? check.type);
  const rule = known[name];
  const constraints: readonly unknown[] = check.constraints ?? [];
  if (rule !== undefined) return rule(constraints[0]);
  const said = schemaShape.safeParse(constraints[0]);
  if (said.success) return said.data;
  throw new Error(`${member} is checked by ${name}, which has no schema.`);
}
