import { z } from 'zod';
import type { DocumentedOperation, Header, Parameter, Response } from './document.js';
import { dtoComponents, dtoName, dtoSchema } from './dto-schema.js';
import { errorResponses } from './errors.js';
import { ifNoneMatch, responseHeaders, standardHeaders } from './headers.js';
import type { Api, Route } from './route.js';
import { schemaRef, referredName, type Schema, type Schemas } from './schema.js';
import { shapeSchema } from './shape-schema.js';

/** Name of the security scheme of access tokens. */
export const accessTokenScheme = 'accessToken';

/** Describes a route as an OpenAPI operation. @throws Error when documentation is missing */
export function describeRoute(
  route: Route,
  api: Api,
): { readonly operation: DocumentedOperation; readonly schemas: Schemas } {
  const { operation, access, body } = route;
  const success = successResponse(route);
  const parameters = [...pathParameters(route), ...queryParameters(route), ...route.headers];
  if (hasEntityTag(route)) parameters.push(ifNoneMatch);
  return {
    operation: {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(operation.description !== undefined && { description: operation.description }),
      ...(route.server !== undefined && { servers: [{ url: route.server }] }),
      security: access === 'public' ? [] : [{ [accessTokenScheme]: [...access.scopes] }],
      ...(access !== 'public' && { 'x-rate-limit': access.rateLimit }),
      ...(parameters.length > 0 && { parameters }),
      ...(body !== undefined && { requestBody: requestBody(body, route) }),
      responses: { ...success.responses, ...errorResponses(route, api) },
    },
    schemas: { ...success.schemas, ...(body !== undefined && dtoComponents(body)) },
  };
}

function hasEntityTag({ operation }: Route): boolean {
  return operation.response.headers?.includes('ETag') === true;
}

function pathParameters({ path, params, operation }: Route): Parameter[] {
  const validated = params === undefined ? {} : dtoSchema(params).schema.properties;
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const schema = validated?.[name];
    if (schema !== undefined) return { ...parameter(name, schema), in: 'path', required: true };
    const documented = operation.path?.[name];
    if (documented === undefined) throw new Error(`${operation.id} has no description of {${name}}.`);
    return { name, in: 'path', required: true, schema: { type: 'string' }, ...documented };
  });
}

function queryParameters({ query }: Route): Parameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = dtoSchema(query).schema;
  return Object.entries(properties).map(([name, schema]) => ({
    ...parameter(name, schema),
    in: 'query',
    ...(required.includes(name) && { required: true }),
  }));
}

function parameter(name: string, { description = '', examples, ...schema }: Schema): Omit<Parameter, 'in'> {
  return { name, description, schema, ...(examples?.[0] !== undefined && { example: examples[0] }) };
}

function requestBody(dto: NonNullable<Route['body']>, { operation }: Route) {
  const { id, body: examples } = operation;
  if (examples === undefined) throw new Error(`${id} has a body without an example.`);
  return {
    required: (dtoSchema(dto).schema.required ?? []).length > 0,
    content: { 'application/json': { schema: schemaRef(dtoName(dto)), examples } },
  };
}

function successResponse(route: Route): { responses: Record<string, Response>; schemas: Schemas } {
  const { operation, status } = route;
  const contentType = operation.response.contentType ?? route.contentType ?? 'application/json';
  const { description, shape } = operation.response;
  const headers = successHeaders(route);
  const notModified = hasEntityTag(route) && {
    304: {
      description: 'Not modified: the representation still has the `ETag` in `If-None-Match`.',
      headers,
    },
  };
  if (shape instanceof z.ZodVoid) {
    return { responses: { [status]: { description, headers }, ...notModified }, schemas: {} };
  }
  const { schema, schemas } = shapeSchema(shape);
  const examples = contentType === 'application/json' && { examples: examplesOf(route, schema, schemas) };
  const response = { description, headers, content: { [contentType]: { schema, ...examples } } };
  return { responses: { [status]: response, ...notModified }, schemas };
}

/** Returns the operation's own examples, or the first of its shape. @throws Error when there is none */
function examplesOf({ operation: { id, response } }: Route, schema: Schema, schemas: Schemas) {
  if (response.examples !== undefined) return response.examples;
  const componentName = referredName(schema);
  const component = componentName === undefined ? undefined : schemas[componentName];
  const examples = schema.examples ?? component?.examples ?? [];
  if (examples[0] === undefined) throw new Error(`${id} has a response without an example.`);
  return { example: { value: examples[0] } };
}

function successHeaders({ access, operation, extraHeaders = [] }: Route): Record<string, Header> {
  const { location, headers = [] } = operation.response;
  const { 'X-Request-Id': requestId, RateLimit, 'RateLimit-Policy': policy } = standardHeaders;
  return {
    'X-Request-Id': requestId,
    ...Object.fromEntries(headers.map((name) => [name, responseHeaders[name]])),
    ...(location !== undefined && { Location: { ...responseHeaders.Location, example: location } }),
    ...Object.fromEntries(extraHeaders.map((name) => [name, standardHeaders[name]])),
    ...(access !== 'public' && { 'RateLimit-Policy': policy, RateLimit }),
  };
}
