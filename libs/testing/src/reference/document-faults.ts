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
import { SchemaJudge } from './schema-judge.js';

/** What makes a document no OpenAPI 3.1. */
export async function formatFaults(document: OpenApiDocument): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  return valid ? [] : errors;
}

function operationsOf(document: OpenApiDocument): DocumentedOperation[] {
  return [...Object.values(document.paths), ...Object.values(document.webhooks ?? {})].flatMap((item) =>
    Object.values(item),
  );
}

/** Examples that are not of the shape they are examples of, undocumented members included. */
export function exampleFaults(document: OpenApiDocument): string[] {
  const judge = new SchemaJudge(document);
  const faults = (where: string, schema: Schema, values: readonly unknown[]): string[] =>
    values.flatMap((value) => judge.faults(schema, value).map((fault) => `${where}: ${fault}`));
  const valuesOf = (examples: Readonly<Record<string, Example>> = {}) =>
    Object.values(examples).map(({ value }) => value);
  return [
    ...Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      faults(name, schema, schema.examples ?? []),
    ),
    ...operationsOf(document).flatMap(({ operationId, parameters = [], requestBody, responses }) => [
      ...parameters.flatMap(({ name, schema, example }) =>
        faults(`${operationId} ${name}`, schema, example === undefined ? [] : [example]),
      ),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema, examples }) =>
        faults(`${operationId} body`, schema, valuesOf(examples)),
      ),
      ...Object.entries(responses).flatMap(([status, given]) => {
        const { headers = {}, content = {} } = responseOf(document, given);
        return [
          ...Object.values(content).flatMap(({ schema, examples }) =>
            faults(`${operationId} ${status}`, schema, valuesOf(examples)),
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

/** Members of shapes that nothing is said about. */
export function undescribed(document: OpenApiDocument): string[] {
  const { schemas } = document.components;
  const said = (schema: Schema): boolean =>
    schema.description !== undefined || schemas[referredName(schema) ?? '']?.description !== undefined;
  const look = (schema: Schema, where: string): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
      ...(said(member) ? [] : [`${where}.${name}`]),
      ...look(member, `${where}.${name}`),
    ]),
    ...(schema.items === undefined ? [] : look(schema.items, `${where}[]`)),
    ...(schema.anyOf ?? []).flatMap((choice) => look(choice, where)),
  ];
  return Object.entries(schemas).flatMap(([name, schema]) => look(schema, name));
}
