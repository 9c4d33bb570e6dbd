import { z } from 'zod';

const jsonObject = z.record(z.string(), z.unknown());
export type JsonObject = z.infer<typeof jsonObject>;

/** A document with schemas that refer to each other by `$ref`. */
export type Document = JsonObject;

/** A schema and the document in which its references are resolved. */
interface SchemaInDocument {
  readonly document: Document;
  readonly schema: unknown;
}

/** What a reader accepts although its schema does not have it. */
export interface Tolerance {
  readonly newValues: 'accepted' | 'rejected';
  readonly unknownMembers: 'accepted' | 'rejected';
}

/** A schema with `$ref` and `allOf` resolved, reduced to the keywords that are compared. */
interface Resolved {
  readonly types: readonly string[] | undefined;
  /** The values of `const` or `enum`. */
  readonly values: readonly unknown[] | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** Whether `additionalProperties` is false. */
  readonly isClosed: boolean;
  readonly items: unknown;
  /** The schemas of `anyOf` and `oneOf`. */
  readonly alternatives: readonly unknown[];
  /** `lowerLimits` and `upperLimits` by their keywords. */
  readonly limits: Readonly<Record<string, number>>;
  /** `pattern` and `format`. */
  readonly syntax: Readonly<Record<string, string>>;
}

/** The patterns of UUIDs of RFC 9562 and of UUIDs of any version. */
const uuidPatterns = [z.uuid(), z.guid()].map((schema) => z.toJSONSchema(schema).pattern);
const lowerLimits = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'] as const;
const upperLimits = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'] as const;
const syntaxKeywords = ['pattern', 'format'] as const;

/**
 * Returns what a writer may write that a reader rejects, by their JSON Schemas. Covers the keywords that the
 * documents of the suite use. A changed pattern or format counts as rejected, since it is unknown whether one
 * pattern includes another. One change of the pattern of UUIDs is allowed (`isKnownWidening`).
 */
export function rejections(
  writer: SchemaInDocument,
  reader: SchemaInDocument,
  tolerance: Tolerance,
): string[] {
  return compare(writer, reader, '', tolerance, new Set());
}

function compare(
  writer: SchemaInDocument,
  reader: SchemaInDocument,
  path: string,
  tolerance: Tolerance,
  compared: ReadonlySet<string>,
): string[] {
  const pair = JSON.stringify([writer.schema, reader.schema]);
  if (compared.has(pair)) return []; // a schema that contains itself
  const seen = new Set([...compared, pair]);
  const [written, read] = [resolve(writer), resolve(reader)];
  const compareParts = (writerPart: unknown, readerPart: unknown, partPath: string): string[] =>
    compare({ ...writer, schema: writerPart }, { ...reader, schema: readerPart }, partPath, tolerance, seen);

  if (written.alternatives.length > 0)
    return [
      ...new Set(
        written.alternatives.flatMap((alternative) => compareParts(alternative, reader.schema, path)),
      ),
    ];
  if (read.alternatives.length > 0) {
    const attempts = read.alternatives.map((alternative) => compareParts(writer.schema, alternative, path));
    if (attempts.some((found) => found.length === 0)) return [];
    // The alternative with the fewest differences is the one that was meant.
    return attempts.toSorted((one, other) => one.length - other.length)[0] ?? [];
  }
  return [
    ...typeRejections(written, read, path),
    ...valueRejections(written, read, path, tolerance),
    ...limitRejections(written, read, path),
    ...memberRejections(written, read, path, tolerance),
    ...Object.entries(read.properties).flatMap(([name, property]) => {
      const member = written.properties[name];
      return member === undefined ? [] : compareParts(member, property, memberPath(path, name));
    }),
    ...(written.items === undefined || read.items === undefined
      ? []
      : compareParts(written.items, read.items, `${path}[]`)),
  ];
}

function typeRejections(written: Resolved, read: Resolved, path: string): string[] {
  const { types } = read;
  if (types === undefined || written.types === undefined) return [];
  const accepts = (type: string): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  const rejected = written.types.filter((type) => !accepts(type));
  return rejected.map((type) => `${subject(path)} may be ${type}, but must be ${types.join(' or ')}`);
}

function valueRejections(written: Resolved, read: Resolved, path: string, tolerance: Tolerance): string[] {
  const { values } = read;
  if (values === undefined) return [];
  if (written.values === undefined)
    return [`${subject(path)} may be any value, but must be ${values.map(json).join(' or ')}`];
  const accepted = new Set(values.map(json));
  const rejected = written.values.filter((value) => !accepted.has(json(value)));
  // A reader that tolerates new values of an enumeration does not tolerate another constant.
  if (tolerance.newValues === 'accepted' && rejected.length < written.values.length) return [];
  return rejected.map((value) => `${subject(path)} may be ${json(value)}, which is not known`);
}

function limitRejections(written: Resolved, read: Resolved, path: string): string[] {
  if (written.values !== undefined) return []; // the values themselves are compared
  const lowest = (name: string): number => (name === 'minItems' || name === 'minLength' ? 0 : -Infinity);
  const lower = lowerLimits.filter(
    (name) => (read.limits[name] ?? -Infinity) > (written.limits[name] ?? lowest(name)),
  );
  const upper = upperLimits.filter(
    (name) => (read.limits[name] ?? Infinity) < (written.limits[name] ?? Infinity),
  );
  return [
    ...[...lower, ...upper].map((name) => {
      const own = written.limits[name];
      const reason = own === undefined ? `it has no ${name}` : `its own ${name} is ${own}`;
      return `${subject(path)} may violate ${name} ${read.limits[name]}, because ${reason}`;
    }),
    ...syntaxKeywords
      .filter((name) => read.syntax[name] !== undefined && read.syntax[name] !== written.syntax[name])
      .filter((name) => name !== 'pattern' || !isKnownWidening(written, read))
      .map((name) => `${subject(path)} must match the ${name} ${read.syntax[name]}`),
  ];
}

/**
 * Whether each schema accepts UUIDs: of any version, or only those of RFC 9562. Release 1.0.0 reads only
 * those of RFC 9562, but messages may contain others, since clients choose the ids of tracks. To be removed
 * after the next release.
 */
function isKnownWidening(...schemas: readonly Resolved[]): boolean {
  return schemas.every(
    ({ syntax: { format, pattern } }) => format === 'uuid' && uuidPatterns.includes(pattern),
  );
}

function memberRejections(written: Resolved, read: Resolved, path: string, tolerance: Tolerance): string[] {
  const names = Object.keys(written.properties);
  const unknown =
    read.isClosed || (tolerance.unknownMembers === 'rejected' && Object.keys(read.properties).length > 0)
      ? names.filter((name) => read.properties[name] === undefined)
      : [];
  return [
    ...read.required
      .filter((name) => isObject(written) && !written.required.includes(name))
      .map((name) => `${memberPath(path, name)} may be absent, but is required`),
    ...unknown.map((name) => `${memberPath(path, name)} is not known`),
  ];
}

function isObject({ types }: Resolved): boolean {
  return types === undefined || types.includes('object');
}

function resolve({ document, schema }: SchemaInDocument): Resolved {
  const own = jsonObject.catch({}).parse(schema);
  if (typeof own['$ref'] === 'string')
    return resolve({ document, schema: referencedPart(document, own['$ref']) });
  const parts = list(own['allOf']).map((part) => resolve({ document, schema: part }));
  const all = [...parts, resolveKeywords(own)];
  const values = all.map((part) => part.values).filter((allowed) => allowed !== undefined);
  return {
    types: all.findLast(({ types }) => types !== undefined)?.types,
    values: values.at(-1),
    properties: mergedProperties(all),
    required: all.flatMap(({ required }) => required),
    isClosed: all.some(({ isClosed }) => isClosed),
    items: all.findLast(({ items }) => items !== undefined)?.items,
    alternatives: all.flatMap(({ alternatives }) => alternatives),
    limits: Object.fromEntries(all.flatMap(({ limits }) => Object.entries(limits))),
    syntax: Object.fromEntries(all.flatMap(({ syntax }) => Object.entries(syntax))),
  };
}

function resolveKeywords(own: JsonObject): Resolved {
  const numbers = [...lowerLimits, ...upperLimits].flatMap((name) => {
    const value = own[name];
    return typeof value === 'number' ? [[name, value] as const] : [];
  });
  const syntax = syntaxKeywords.flatMap((name) => {
    const value = own[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  const { type, enum: enumeration, const: constant } = own;
  const enumerated = Array.isArray(enumeration) ? enumeration : undefined;
  return {
    types: type === undefined ? undefined : [type].flat().map(String),
    values: 'const' in own ? [constant] : enumerated,
    properties: jsonObject.catch({}).parse(own['properties']),
    required: list(own['required']).map(String),
    isClosed: own['additionalProperties'] === false,
    items: own['items'],
    alternatives: [...list(own['anyOf']), ...list(own['oneOf'])],
    limits: Object.fromEntries(numbers),
    syntax: Object.fromEntries(syntax),
  };
}

/** Merges the properties of `allOf`. One that several parts describe must match all of them. */
function mergedProperties(parts: readonly Resolved[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const { properties } of parts) {
    for (const [name, schema] of Object.entries(properties)) {
      merged[name] = merged[name] === undefined ? schema : { allOf: [merged[name], schema] };
    }
  }
  return merged;
}

/** Returns the part of a document to which a reference such as `#/components/schemas/Order` points. */
export function referencedPart(document: Document, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/');
  return names.reduce<unknown>((found, name) => {
    const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
    return jsonObject.catch({}).parse(found)[key];
  }, document);
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function subject(path: string): string {
  return path === '' ? 'the value' : path;
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
