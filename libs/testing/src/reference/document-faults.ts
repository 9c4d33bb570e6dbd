import {
  type DocumentedOperation,
  type Example,
  headerOf,
  type OpenApiDocument,
  referredName,
  responseOf,
  type Schema,
} from '@fulfilment/api-reference';
import { Validator } from '@seriousme/openapi-schema-validator';
import { SchemaValidator } from './schema-validator.js';

/** Returns the violations of OpenAPI 3.1 in a document. */
export async function formatFaults(document: OpenApiDocument): Promise<unknown> {
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
export function exampleFaults(document: OpenApiDocument): string[] {
  const validator = new SchemaValidator(document);
  const faults = (where: string, schema: Schema, values: readonly unknown[]): string[] =>
    values.flatMap((value) => validator.faults(schema, value).map((fault) => `${where}: ${fault}`));
  const exampleValues = (examples: Readonly<Record<string, Example>> = {}) =>
    Object.values(examples).map(({ value }) => value);
  return [
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      faults(name, schema, schema.examples ?? []),
    ),
    ...allOperations(document).flatMap(({ operationId, parameters = [], requestBody, responses }) => [
      ...parameters.flatMap(({ name, schema, example }) =>
        faults(`${operationId} ${name}`, schema, example === undefined ? [] : [example]),
      ),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema, examples }) =>
        faults(`${operationId} body`, schema, exampleValues(examples)),
      ),
      ...Object.entries(responses).flatMap(([status, given]) => {
        const { headers = {}, content = {} } = responseOf(document, given);
        return [
          ...Object.values(content).flatMap(({ schema, examples }) =>
            faults(`${operationId} ${status}`, schema, exampleValues(examples)),
          ),
          ...Object.entries(headers).flatMap(([name, header]) => {
            const { schema, example } = headerOf(document, header);
            return faults(`${operationId} ${status} ${name}`, schema, example === undefined ? [] : [example]);
          }),
        ];
      }),
    ]),
  ];
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
