import { type OpenApiDocument, referredName, type Schema, type Schemas } from '@fulfilment/api-reference';
import { z } from 'zod';
import { boundValues } from './bound-values.js';
import { mentionsField } from './mentions-field.js';

type PendingResponse = PromiseLike<{ readonly status: number; readonly body: unknown }>;

/** A request body that differs from a valid one in one member, and whether the document allows it. */
interface Probe {
  /** The member, as error details name it. */
  readonly field: string;
  readonly isAllowed: boolean;
  /** Undefined for an absent member. */
  readonly value: unknown;
  readonly body: unknown;
}

const asObject = z.record(z.string(), z.unknown());

/**
 * Returns the differences between the documented bounds of a body and the service's validation. Sends values
 * at every bound, just beyond it and of another type, and leaves out each member.
 * @param component name of the body's schema
 * @param validBody a valid body, with every member whose bounds are to be tested
 */
export async function boundMismatches(
  document: OpenApiDocument,
  component: string,
  validBody: object,
  send: (body: object) => PendingResponse,
): Promise<string[]> {
  const { schemas } = document.components;
  const probes = [
    ...probesOf(
      { schema: schemas[component] ?? {}, validValue: validBody, path: [], bodyWith: (body) => body },
      schemas,
    ),
  ];
  if (probes.length === 0) throw new Error(`${component} has no bounds.`);
  const mismatches: string[] = [];
  for (const { field, isAllowed, value, body } of probes) {
    const isRejected = mentionsField(field, await send(asObject.parse(body)));
    if (isRejected === isAllowed)
      mismatches.push(`${field}: ${JSON.stringify(value)} is ${isRejected ? 'rejected' : 'accepted'}`);
  }
  return mismatches;
}

/** A member of the body at any depth, or the body itself. */
interface Place {
  readonly schema: Schema;
  /** Its value in the valid body. */
  readonly validValue: unknown;
  /** Names of the members that lead to it; empty for the body itself. */
  readonly path: readonly string[];
  /** Returns the body with another value at this place. */
  readonly bodyWith: (value: unknown) => unknown;
}

/** Yields the probes of a place and of the members below it; for the body, only those of its members. */
function* probesOf(
  { schema: given, validValue, path, bodyWith }: Place,
  schemas: Schemas,
): Generator<Probe, void> {
  const schema = { ...schemas[referredName(given) ?? ''], ...given };
  const isBody = path.length === 0;
  if (!isBody) {
    const field = path.join('.');
    const { allowed, rejected } = boundValues(schema, validValue);
    const ofWrongType = schema.type === 'string' ? 5 : String(schema.minimum ?? 'text'); // an integer as text
    for (const value of allowed) yield { field, isAllowed: true, value, body: bodyWith(value) };
    for (const value of [...rejected, ofWrongType])
      yield { field, isAllowed: false, value, body: bodyWith(value) };
  }
  if (schema.items !== undefined && Array.isArray(validValue)) {
    const [first, ...others] = z.array(z.unknown()).parse(validValue);
    const firstItem = {
      schema: schema.items,
      validValue: first,
      path: [...path, '0'],
      bodyWith: (value: unknown) => bodyWith([value, ...others]),
    };
    yield* probesOf(firstItem, schemas);
  }
  if (schema.properties === undefined) return;
  const members = asObject.parse(validValue);
  for (const [name, memberSchema] of Object.entries(schema.properties)) {
    const member = {
      schema: memberSchema,
      validValue: members[name],
      path: [...path, name],
      bodyWith: (value: unknown) => bodyWith({ ...members, [name]: value }),
    };
    yield {
      field: member.path.join('.'),
      isAllowed: schema.required?.includes(name) !== true,
      value: undefined,
      body: member.bodyWith(undefined),
    };
    if (name in members) yield* probesOf(member, schemas);
  }
}

/**
 * Returns the differences between the documented query parameters of a GET and the service's validation.
 * Sends values at every bound and just beyond it, and each parameter absent and repeated.
 * @param path path in the document
 * @param validValues valid values of the required parameters, by name
 */
export async function queryMismatches(
  document: OpenApiDocument,
  path: string,
  validValues: Readonly<Record<string, string>>,
  send: (query: string) => PendingResponse,
): Promise<string[]> {
  const mismatches: string[] = [];
  const parameters = document.paths[path]?.get?.parameters ?? [];
  for (const { name, schema, required = false } of parameters.filter(({ in: place }) => place === 'query')) {
    const compare = async (values: readonly unknown[], expected: 'accepted' | 'rejected') => {
      const { [name]: _, ...others } = validValues;
      const query = new URLSearchParams(others);
      for (const value of values) query.append(name, String(value));
      const response = await send(query.toString());
      const isAsExpected = expected === 'accepted' ? response.status < 300 : mentionsField(name, response);
      if (isAsExpected) return;
      mismatches.push(`${name}=${JSON.stringify(values)} gets ${response.status}`);
    };
    const { allowed, rejected } = boundValues(schema, validValues[name] ?? '');
    // Cursors are signed, so no invented text is a valid cursor.
    const accepted = name === 'cursor' ? [] : allowed;
    await compare([], required ? 'rejected' : 'accepted');
    for (const value of accepted) await compare([value], 'accepted');
    for (const value of rejected) await compare([value], 'rejected');
    if (schema.type === 'integer') await compare([''], 'rejected');
    const repeated = accepted[0] ?? validValues[name] ?? '';
    await compare([repeated, repeated], 'rejected');
  }
  return mismatches;
}
