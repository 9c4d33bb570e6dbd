import { documentShape, type OpenApiDocument } from '@fulfilment/api-reference';
import { readFileSync } from 'node:fs';

/** Reads the committed OpenAPI document of an API. */
export function readDocument(api: 'store' | 'creator'): OpenApiDocument {
  const file = new URL(`../../../../docs/reference/${api}.openapi.json`, import.meta.url);
  return documentShape.parse(JSON.parse(readFileSync(file, 'utf8')));
}
