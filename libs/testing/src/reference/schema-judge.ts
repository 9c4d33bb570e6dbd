import { mapSchema, type OpenApiDocument, referredName, type Schema } from '@fulfilment/api-reference';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const base = 'https://document.example/';

/**
 * Judges values by the schemas of a document. What we answer is judged by closed schemas, so that a member nobody documented is a fault; the
 * published ones are open, because members may be added.
 */
export class SchemaJudge {
  private readonly ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor({ components }: OpenApiDocument) {
    addFormats.default(this.ajv);
    const $defs = Object.fromEntries(
      Object.entries(components.schemas).map(([name, schema]) => [name, prepared(schema)]),
    );
    this.ajv.addSchema({ $id: base, $defs });
  }

  /** What is wrong with a value, empty when nothing is. */
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
