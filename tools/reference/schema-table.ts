import { z } from 'zod';

/** The part of JSON Schema that our shapes use. */
const node = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
  propertyNames: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});
type Node = z.infer<typeof node>;

/** A table row for each field of an object schema, nested ones by their path. */
export function fieldRows(schema: unknown, path = ''): string[] {
  const { properties, required } = node.parse(schema);
  return Object.entries(properties).flatMap(([name, child]) => {
    const { inner, nullable } = withoutNull(node.parse(child));
    const field = `${path}${name}`;
    const presence = [required.includes(name) ? '' : 'optional', nullable ? 'nullable' : ''].filter(
      (word) => word !== '',
    );
    const notes = [...presence, bounds(inner), inner.description ?? '']
      .filter((note) => note !== '')
      .join('; ');
    return [`| \`${field}\` | ${typeName(inner)} | ${notes} |`, ...nested(inner, field)];
  });
}

function nested(schema: Node, field: string): string[] {
  if (schema.type === 'array') return fieldRows(schema.items, `${field}[].`);
  return schema.type === 'object' ? fieldRows(schema, `${field}.`) : [];
}

function withoutNull(schema: Node): { inner: Node; nullable: boolean } {
  if (Array.isArray(schema.type)) {
    const [type] = schema.type.filter((name) => name !== 'null');
    return { inner: { ...schema, type }, nullable: schema.type.includes('null') };
  }
  const choices = (schema.anyOf ?? []).map((choice) => node.parse(choice));
  const inner = choices.find(({ type }) => type !== 'null');
  return inner === undefined ? { inner: schema, nullable: false } : { inner, nullable: choices.length > 1 };
}

function typeName({ type = 'any', format }: Node): string {
  return format === undefined ? String(type) : `${String(type)} (${format})`;
}

function bounds({ enum: values, minimum, maximum, minLength, maxLength, propertyNames }: Node): string {
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(', ');
  if (propertyNames !== undefined) return `by ${bounds(node.parse(propertyNames))}`;
  if (minimum !== undefined || maximum !== undefined) return `${minimum ?? ''} to ${maximum ?? ''}`;
  if (minLength !== undefined || maxLength !== undefined)
    return `${minLength ?? 0} to ${maxLength ?? 'any'} characters`;
  return '';
}
