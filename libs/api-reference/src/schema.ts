import { z } from 'zod';

const list = z.array(z.unknown());

/**
 * The subset of JSON Schema 2020-12 that our shapes use. Strict, because the reference page would not show
 * any other keyword and no test would compare it with the code.
 */
export const schemaShape = z.strictObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  enum: list.optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  examples: list.optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
  maxProperties: z.number().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), schemaShape).optional();
  },
  get propertyNames() {
    return schemaShape.optional();
  },
  get additionalProperties() {
    return z.union([z.boolean(), schemaShape]).optional();
  },
  get items() {
    return schemaShape.optional();
  },
  get anyOf() {
    return z.array(schemaShape).optional();
  },
  get allOf() {
    return z.array(schemaShape).optional();
  },
});
export type Schema = z.infer<typeof schemaShape>;

/** Named schemas of a document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** A schema and the named schemas that it references. */
export interface NamedSchemas {
  readonly schema: Schema;
  readonly schemas: Schemas;
}

export const schemasPrefix = '#/components/schemas/';

export function schemaRef(name: string): Schema {
  return { $ref: `${schemasPrefix}${name}` };
}

/** Name of the referenced component, if a schema is a reference. */
export function referredName({ $ref }: Schema): string | undefined {
  return $ref?.startsWith(schemasPrefix) === true ? $ref.slice(schemasPrefix.length) : undefined;
}
