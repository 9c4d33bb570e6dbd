import {
  type DocumentedOperation,
  type Method,
  type OpenApiDocument,
  operationsOf,
  referredName,
  type Schema,
} from '@fulfilment/api-reference';
import fc from 'fast-check';

/** A request to one operation of a documented API; any part of it may be wrong. */
export interface OperationRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface Operation {
  readonly name: string;
  readonly method: Method;
  readonly path: string;
  readonly documented: DocumentedOperation;
}

/** @param prefix first segment of the API's paths; the path of an operation with own `servers` is complete */
export function operationsWithFullPaths(document: OpenApiDocument, prefix: string): Operation[] {
  return operationsOf(document).map(({ method, path, operation: documented }) => {
    const fullPath = documented.servers === undefined ? `${prefix}${path}` : path;
    return { name: `${method.toUpperCase()} ${fullPath}`, method, path: fullPath, documented };
  });
}

/** Values that are valid for some members, and values that are often handled wrongly. */
const texts = fc.constantFrom(
  '',
  ' ',
  'a',
  '0',
  '-1',
  'null',
  'GB',
  'GBP',
  '2026-02-30',
  '2026-11-22T10:00:00Z',
  '2026-12-31T23:59:60.1234567890Z',
  'https://receiver.example/hooks',
  'https://receiver.example/a b',
  'https://[::1]/',
  'javascript:alert(1)',
  'line\nbreak',
  '\u0000',
  '\ud800',
  '\u202e\u0301',
  "'; DROP TABLE orders; --",
  '%00%2e%2e%2f',
  'é'.repeat(300),
  'x'.repeat(3_000),
);
const numbers = fc.constantFrom(0, 1, -1, 0.5, 100, 101, 2_147_483_648, 2 ** 53, 1e308);
const anything = fc.oneof(
  texts,
  numbers,
  fc.constantFrom(null, true, false),
  fc.constantFrom<unknown>([], {}, [[]], [null], { a: { b: {} } }),
);

/** Generates requests to an operation that are mostly as documented, often with known ids in the path. */
export function requestsTo(
  operation: Operation,
  document: OpenApiDocument,
  knownIds: readonly string[],
): fc.Arbitrary<OperationRequest> {
  const { parameters = [], requestBody } = operation.documented;
  const ids = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...knownIds) }, texts);
  const valuesIn = (place: 'path' | 'query' | 'header'): Record<string, fc.Arbitrary<unknown>> =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, schema, example }) => [
          name,
          place === 'path' ? ids : fc.oneof(fc.constant(example), valuesOf(schema, document), texts),
        ]),
    );
  const bodySchema = requestBody?.content['application/json']?.schema;
  return fc
    .record({
      path: fc.record(valuesIn('path')),
      query: fc.record({ ...valuesIn('query'), unknown: texts }, { requiredKeys: [] }),
      headers: fc.record(valuesIn('header'), { requiredKeys: [] }),
      body: bodySchema === undefined ? fc.constant(undefined) : bodiesOf(bodySchema, operation, document),
    })
    .map(({ path, query, headers, body }) => ({
      path: operation.path.replaceAll(/\{(\w+)\}/g, (_placeholder, name: string) =>
        // The gateway itself rejects %00, with a status that operations do not document (docs/decisions.md).
        // An empty parameter would make the path of another operation.
        encodeURIComponent(wellFormed(path[name]).replaceAll('\u0000', '') || '-'),
      ),
      query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, wellFormed(value)])),
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          wellFormed(value).replaceAll(/[^\x20-\x7e]/g, '?'),
        ]),
      ),
      body,
    }));
}

function bodiesOf(
  schema: Schema,
  { documented }: Operation,
  document: OpenApiDocument,
): fc.Arbitrary<unknown> {
  const examples = Object.values(documented.requestBody?.content['application/json']?.examples ?? {});
  const generated = valuesOf(schema, document);
  return examples.length === 0
    ? fc.oneof({ weight: 5, arbitrary: generated }, anything)
    : fc.oneof(
        { weight: 5, arbitrary: generated },
        { weight: 2, arbitrary: fc.constantFrom(...examples.map(({ value }) => value)) },
        anything,
      );
}

/** Generates values that a schema describes, with wrong ones among them at any place. */
function valuesOf(schema: Schema, document: OpenApiDocument): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 6, arbitrary: validValuesOf(schema, document) }, anything);
}

function validValuesOf(schema: Schema, document: OpenApiDocument): fc.Arbitrary<unknown> {
  const name = referredName(schema);
  const referred = name === undefined ? undefined : document.components.schemas[name];
  if (referred !== undefined) return validValuesOf(referred, document);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.examples !== undefined && schema.examples.length > 0) return fc.constantFrom(...schema.examples);
  const choices = schema.anyOf ?? schema.allOf;
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => validValuesOf(choice, document)));
  if (schema.properties !== undefined) {
    const members = Object.entries(schema.properties);
    return fc.record(
      Object.fromEntries(members.map(([member, child]) => [member, valuesOf(child, document)])),
      { requiredKeys: schema.required ?? [] },
    );
  }
  if (schema.items !== undefined) return fc.array(valuesOf(schema.items, document), { maxLength: 3 });
  if (schema.type === 'integer' || schema.type === 'number')
    return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000 });
  if (schema.type === 'boolean') return fc.boolean();
  return texts;
}

/** Returns the value as text that a URL can contain. */
function wellFormed(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
}
