import { z } from 'zod';
import { componentRef, mapSchema, type Schema, schemaShape, type Schemas } from './schema.js';

/** A schema and the named schemas that it references. */
export interface NamedSchemas {
  readonly schema: Schema;
  readonly schemas: Schemas;
}

const formatsThatSayAll = new Set(['date-time', 'date', 'uri', 'uuid']);
const notInJson = new Set([
  'symbol',
  'undefined',
  'void',
  'date',
  'map',
  'set',
  'transform',
  'nan',
  'custom',
  'function',
]);
const defs = z.record(z.string(), z.unknown()).default({});

/**
 * The JSON Schema of a response shape; shapes with an `id` become components. Open, since members may be
 * added later.
 */
export function shapeSchema(shape: z.ZodType): NamedSchemas {
  const {
    $schema: _,
    $defs,
    ...root
  } = z.toJSONSchema(shape, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { type } = zodSchema._zod.def;
      if (type === 'bigint')
        jsonSchema.type = 'integer'; // JSON's integers have no bounds
      else if (notInJson.has(type)) throw new Error(`JSON has no ${type}.`);
    },
  });
  return {
    schema: simplify(root),
    schemas: Object.fromEntries(
      Object.entries(defs.parse($defs)).map(([name, schema]) => [name, simplify(schema)]),
    ),
  };
}

function simplify(given: unknown): Schema {
  const { $defs: _, ...plain } = z.record(z.string(), z.unknown()).parse(withoutPropertyNames(given));
  return mapSchema(schemaShape.parse(plain), (schema) => {
    const { additionalProperties, pattern, $ref, ...rest } = schema;
    const name = $ref?.replace('#/$defs/', '');
    return {
      ...rest,
      ...(name !== undefined && componentRef(name)),
      // zod's patterns of dates only repeat the format.
      ...(pattern !== undefined && !formatsThatSayAll.has(rest.format ?? '') && { pattern }),
      ...(typeof additionalProperties === 'object' && { additionalProperties }),
    };
  });
}

/** `propertyNames: {type: string}` is always true in JSON; `id` holds the component's name in zod. */
function withoutPropertyNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPropertyNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'propertyNames')
      .map(([name, member]) => [name, withoutPropertyNames(member)]),
  );
}
