import addFormats from 'ajv-formats';
import { Ajv } from 'ajv';

/** Returns why a value does not match a schema of JSON Schema draft 7; empty if it does. */
export function jsonSchemaViolations(schema: object, value: unknown): string[] {
  const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true }));
  if (ajv.validate(schema, value)) return [];
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}
