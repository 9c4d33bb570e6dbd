import { type OpenApiDocument, referredName, type Schema } from '@fulfilment/api-reference';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const base = 'https://document.example/';

/**
 * Validates values against the schemas of a document. Closes the schemas, so that an undocumented member is a
 * fault; the published schemas are open, because members may be added.
 */
export class SchemaValidator {
  private readonly ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor({ components }: OpenApiDocument) {
    addFormats.default(this.ajv);
    const $defs = Object.fromEntries(
      Object.entries(components.schemas).map(([name, schema]) => [name, prepared(schema)]),
    );
    this.ajv.addSchema({ $id: base, $defs });
  }

  /** Returns the faults of a value; empty if it is valid. */
  faults(schema: Schema, value: unknown): string[] {
    const key = JSON.stringify(schema);
    const validate = this.compiled.get(key) ?? this.ajv.compile(prepared(schema));
    this.compiled.set(key, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || 'the body'} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }
}

function prepared(schema: Schema): Schema {
  return mapSchema(schema, (inner) => {
    const name = referredName(inner);
    const isOpen =
      inner.type === 'object' && inner.properties !== undefined && inner.additionalProperties === undefined;
    return {
      ...inner,
      ...(name !== undefined && { $ref: `${base}#/$defs/${name}` }),
      ...(isOpen && { additionalProperties: false }),
    };
  });
}

/** Applies a change to a schema and all schemas in it, the innermost first. */
function mapSchema(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const inner = (child: Schema): Schema => mapSchema(child, change);
  const { properties, additionalProperties, items, anyOf, allOf } = schema;
  return change({
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, inner(child)])),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
    ...(items && { items: inner(items) }),
    ...(anyOf && { anyOf: anyOf.map(inner) }),
    ...(allOf && { allOf: allOf.map(inner) }),
  });
}
