import { z } from 'zod';
import { schemasPrefix, type NamedSchemas, schemaShape } from './schema.js';

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
const generatedShape = schemaShape.extend({
  $schema: z.string(),
  $defs: z.record(z.string(), schemaShape).default({}),
});

/** Returns the JSON Schema of a response shape. Shapes with an `id` become components. */
export function shapeSchema(shape: z.ZodType): NamedSchemas {
  const generated = z.toJSONSchema(shape, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { type } = zodSchema._zod.def;
      if (notInJson.has(type)) throw new Error(`JSON has no ${type}.`);
      if (type === 'bigint') jsonSchema.type = 'integer'; // JSON's integers have no bounds
      // Objects allow further members, since later versions may add some.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern; // only repeats the format
      delete jsonSchema.propertyNames; // names are strings anyway
    },
  });
  const text = JSON.stringify(generated).replaceAll('#/$defs/', schemasPrefix);
  const { $schema: _, $defs, ...schema } = generatedShape.parse(JSON.parse(text));
  return { schema, schemas: $defs };
}
