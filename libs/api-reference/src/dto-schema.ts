import { getMetadataStorage } from 'class-validator';
import { z } from 'zod';
import { type Class, documentationOf } from './field.js';
import { schemaRef, type NamedSchemas, type Schema, schemaShape } from './schema.js';

type Check = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/**
 * Returns the JSON Schema of a DTO, from the decorators that validate it, and the schemas of its nested DTOs.
 * @throws Error for a member without a description or with an unknown check
 */
export function dtoSchema(dto: Class): NamedSchemas {
  const checksOfDto = getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
  // Inherited members come last, so that the filters of a list come before `page` and `per_page`.
  const ownFirst = [
    ...checksOfDto.filter(({ target }) => target === dto),
    ...checksOfDto.filter(({ target }) => target !== dto),
  ];
  const members = Map.groupBy(ownFirst, ({ propertyName }) => propertyName);
  const defaults = new dto();
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  const schemas: Record<string, Schema> = {};
  for (const [name, checks] of members) {
    const { description, nestedDto } = documentationOf(defaults, name);
    if (description === undefined) throw new Error(`${dto.name}.${name} has no @Description().`);
    if (nestedDto !== undefined) Object.assign(schemas, dtoComponents(nestedDto));
    const defaultValue: unknown = Reflect.get(defaults, name);
    properties[name] = {
      ...memberSchema(checks, nestedDto, `${dto.name}.${name}`),
      description: description.text,
      ...(defaultValue !== undefined && { default: defaultValue }),
      ...(description.example !== undefined && { examples: [description.example] }),
    };
    if (defaultValue === undefined && !checks.some(isOptional)) required.push(name);
  }
  return { schema: { type: 'object', properties, ...(required.length > 0 && { required }) }, schemas };
}

/** Returns the schemas of a DTO and of its nested DTOs, by their component names. */
export function dtoComponents(dto: Class): Record<string, Schema> {
  const { schema, schemas } = dtoSchema(dto);
  return { [dtoName(dto)]: schema, ...schemas };
}

export function dtoName(dto: Class): string {
  return dto.name.replace(/Dto$/, 'Request');
}

/** Whether a check is `@IsOptional()`, which class-validator stores as a conditional validation. */
function isOptional({ name, type }: Check): boolean {
  return name === 'isOptional' || type === 'conditionalValidation';
}

function memberSchema(checks: readonly Check[], nestedDto: Class | undefined, member: string): Schema {
  const nested = nestedDto === undefined ? undefined : schemaRef(dtoName(nestedDto));
  const checksOfItems = checks.filter(({ each }) => each);
  const checksOfField = checks.filter(({ each }) => !each);
  const field = mergeSchemas(checksOfField, member);
  if (field.type !== 'array') return nested ?? field;
  return { ...field, items: nested ?? { ...field.items, ...mergeSchemas(checksOfItems, member) } };
}

function mergeSchemas(checks: readonly Check[], member: string): Schema {
  const merged: Schema = {};
  for (const check of checks) Object.assign(merged, schemaOfCheck(check, member));
  return merged;
}

/** Schemas of the checks of class-validator that our DTOs use. Our own checks have theirs in `Field`. */
const schemasOfChecks: Readonly<Record<string, (constraint: unknown) => Schema>> = {
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

function schemaOfCheck(check: Check, member: string): Schema {
  const name = isOptional(check) ? 'isOptional' : (check.name ?? check.type);
  const constraint: unknown = check.constraints?.[0];
  const schemaOf = schemasOfChecks[name];
  if (schemaOf !== undefined) return schemaOf(constraint);
  const fieldSchema = schemaShape.safeParse(constraint); // `Field` stores its schema as the constraint
  if (fieldSchema.success) return fieldSchema.data;
  throw new Error(`${member} is checked by ${name}, which has no schema.`);
}
