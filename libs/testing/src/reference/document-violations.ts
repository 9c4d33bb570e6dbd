import {
  type DocumentedOperation,
  type Example,
  resolveHeader,
  type OpenApiDocument,
  referredName,
  resolveResponse,
  type Schema,
} from '@fulfilment/api-reference';
import { Validator } from '@seriousme/openapi-schema-validator';
import { SchemaValidator } from './schema-validator.js';

/** Returns the violations of OpenAPI 3.1 in a document. */
export async function formatViolations(document: OpenApiDocument): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  return valid ? [] : errors;
}

/** Returns the operations of paths and webhooks. */
function allOperations(document: OpenApiDocument): DocumentedOperation[] {
  return [...Object.values(document.paths), ...Object.values(document.webhooks ?? {})].flatMap((item) =>
    Object.values(item),
  );
}

/** Returns the examples that do not match their schema, including those with undocumented members. */
export function exampleViolations(document: OpenApiDocument): string[] {
  const validator = new SchemaValidator(document);
  const violations: string[] = [];
  const check = (where: string, schema: Schema, values: readonly unknown[]): void => {
    for (const value of values)
      violations.push(...validator.violations(schema, value).map((violation) => `${where}: ${violation}`));
  };
  for (const [name, schema] of Object.entries(document.components.schemas))
    check(name, schema, schema.examples ?? []);
  for (const { operationId, parameters = [], requestBody, responses } of allOperations(document)) {
    for (const { name, schema, example } of parameters)
      check(`${operationId} ${name}`, schema, example === undefined ? [] : [example]);
    for (const { schema, examples } of Object.values(requestBody?.content ?? {}))
      check(`${operationId} body`, schema, exampleValues(examples));
    for (const [status, given] of Object.entries(responses)) {
      const { headers = {}, content = {} } = resolveResponse(document, given);
      for (const { schema, examples } of Object.values(content))
        check(`${operationId} ${status}`, schema, exampleValues(examples));
      for (const [name, header] of Object.entries(headers)) {
        const { schema, example } = resolveHeader(document, header);
        check(`${operationId} ${status} ${name}`, schema, example === undefined ? [] : [example]);
      }
    }
  }
  return violations;
}

function exampleValues(examples: Readonly<Record<string, Example>> = {}): unknown[] {
  return Object.values(examples).map(({ value }) => value);
}

/** Returns the members of schemas that have no description. */
export function undescribedMembers(document: OpenApiDocument): string[] {
  const { schemas } = document.components;
  const isDescribed = (schema: Schema): boolean =>
    schema.description !== undefined || schemas[referredName(schema) ?? '']?.description !== undefined;
  const visit = (schema: Schema, where: string): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
      ...(isDescribed(member) ? [] : [`${where}.${name}`]),
      ...visit(member, `${where}.${name}`),
    ]),
    ...(schema.items === undefined ? [] : visit(schema.items, `${where}[]`)),
    ...(schema.anyOf ?? []).flatMap((choice) => visit(choice, where)),
  ];
  return Object.entries(schemas).flatMap(([name, schema]) => visit(schema, name));
}
