import { z } from 'zod';
import { table } from './markdown.ts';

/** The part of JSON Schema that our shapes use. */
const node = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  maxProperties: z.number().optional(),
  pattern: z.string().optional(),
  required: z.array(z.string()).default([]),
  properties: z.record(z.string(), z.unknown()).default({}),
  propertyNames: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});
type Node = z.infer<typeof node>;

/** A table of the fields of an object schema, nested ones by their path. */
export function fieldTable(schema: unknown): string {
  return table(['Field', 'Type', 'Notes'], fieldRows(schema, ''));
}

function fieldRows(schema: unknown, path: string): string[][] {
  const { properties, required } = node.parse(schema);
  return Object.entries(properties).flatMap(([name, child]) => [
    [`\`${path}${name}\``, typeName(child), notes(child, { isRequired: required.includes(name) })],
    ...nested(withoutNull(child).inner, `${path}${name}`),
  ]);
}

function nested(schema: Node, path: string): string[][] {
  return schema.type === 'array' ? fieldRows(schema.items, `${path}[].`) : fieldRows(schema, `${path}.`);
}

function withoutNull(schema: unknown): { inner: Node; nullable: boolean } {
  const outer = node.parse(schema);
  if (Array.isArray(outer.type)) {
    const [type] = outer.type.filter((name) => name !== 'null');
    return { inner: { ...outer, type }, nullable: outer.type.includes('null') };
  }
  const choices = (outer.anyOf ?? []).map((choice) => node.parse(choice));
  const inner = choices.find(({ type }) => type !== 'null');
  if (inner === undefined) return { inner: outer, nullable: false };
  const description = outer.description ?? inner.description;
  return { inner: { ...inner, description }, nullable: choices.some(({ type }) => type === 'null') };
}

/** The name of a schema's type, as a link to the section of a named schema. */
export function typeName(schema: unknown): string {
  const { $ref, type = 'any', format, items } = withoutNull(schema).inner;
  const name = $ref?.replace(/^.*\//, '');
  if (name !== undefined) return `[${name}](#schema-${name})`;
  if (items !== undefined) return `array of ${typeName(items)}`;
  return format === undefined ? String(type) : `${String(type)} (${format})`;
}

/** Presence, bounds and description of a value. */
export function notes(schema: unknown, { isRequired }: { readonly isRequired: boolean }): string {
  const { inner, nullable } = withoutNull(schema);
  const presence = [isRequired ? '' : 'optional', nullable ? 'nullable' : ''];
  return [...presence, ...bounds(inner), inner.description ?? ''].filter((note) => note !== '').join('; ');
}

function bounds(schema: Node): string[] {
  const { enum: values, const: value, default: byDefault, format, pattern, items, propertyNames } = schema;
  const code = (given: unknown): string => `\`${String(given)}\``;
  if (propertyNames !== undefined)
    return [
      ...span(undefined, schema.maxProperties, ' keys'),
      ...bounds(node.parse(propertyNames)).map((bound) => `keys: ${bound}`),
    ];
  return [
    ...(values === undefined ? [] : [values.map(code).join(', ')]),
    ...(value === undefined ? [] : [code(value)]),
    ...span(schema.minimum, schema.maximum, ''),
    ...span(schema.minLength, schema.maxLength, ' characters'),
    ...span(schema.minItems, schema.maxItems, ' items'),
    ...(pattern === undefined || format !== undefined ? [] : [patternNote(pattern)]),
    ...(byDefault === undefined ? [] : [`default ${code(JSON.stringify(byDefault))}`]),
    ...(items === undefined ? [] : bounds(node.parse(items))),
  ];
}

function span(min: number | undefined, max: number | undefined, unit: string): string[] {
  if (min === undefined && max === undefined) return [];
  // zod adds this bound to an integer without a minimum, and its counterpart to one without a maximum. A
  // maximum with another minimum stays, since it may be `maxAmount`.
  if (min === Number.MIN_SAFE_INTEGER)
    return span(undefined, max === Number.MAX_SAFE_INTEGER ? undefined : max, unit);
  if (min === undefined) return [`at most ${max}${unit}`];
  if (min === max) return [`${min}${unit}`];
  return [max === undefined ? `at least ${min}${unit}` : `${min} to ${max}${unit}`];
}

/** Replaces the pattern of texts, which is long, by its meaning. */
function patternNote(pattern: string): string {
  return /\\u2028|\\p\{Cc\}/.test(pattern) ? 'no control characters' : `pattern \`${pattern}\``;
}
