import { type OpenApiDocument, type Schema, schemaShape } from '@fulfilment/api-reference';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const base = 'https://document.example/';

/**
 * Validates values against the schemas of a document. Closes the schemas, so that an undocumented member is a
 * violation; the published schemas are open, because members may be added.
 */
export class SchemaValidator {
  private readonly ajv = new Ajv2020({ allErrors: true, strictTypes: false, strictRequired: false });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor({ components }: OpenApiDocument) {
    addFormats.default(this.ajv);
    const $defs = Object.fromEntries(
      Object.entries(components.schemas).map(([name, schema]) => [name, closed(schema)]),
    );
    this.ajv.addSchema({ $id: base, $defs });
  }

  /** Returns the violations of a value; empty if it is valid. */
  violations(schema: Schema, value: unknown): string[] {
    const key = JSON.stringify(schema);
    const validate = this.compiled.get(key) ?? this.ajv.compile(closed(schema));
    this.compiled.set(key, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${instancePath || 'the body'} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  }
}

/** Returns the schema without additional properties, with references into the definitions above. */
function closed(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', `${base}#/$defs/`);
  return schemaShape.parse(
    JSON.parse(text, (_name, part: Schema) => {
      const isOpen = part?.type === 'object' && part.properties !== undefined;
      return isOpen ? { additionalProperties: false, ...part } : part;
    }),
  );
}
