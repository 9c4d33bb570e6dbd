import { z } from 'zod';
import type { DocumentedOperation, Example, Header, Parameter, Response } from './document.js';
import { dtoName, dtoSchema } from './dto-schema.js';
import { errorResponses } from './errors.js';
import type { Class } from './field.js';
import { responseHeaders, ifNoneMatch, optional, standardHeaders } from './headers.js';
import type { OperationDoc } from './operation.js';
import type { Api, Route } from './route.js';
import { componentRef, referredName, type Schema, type Schemas } from './schema.js';
import { shapeSchema } from './shape-schema.js';

export interface Quota {
  readonly requests: number;
  readonly windowSeconds: number;
}

export interface DescribedRoute {
  readonly operation: DocumentedOperation;
  readonly schemas: Schemas;
}

/** Name of the security scheme of access tokens. */
export const accessTokenScheme = 'accessToken';

/** Describes a route as an OpenAPI operation. @throws Error when documentation is missing */
export function describeRoute(
  route: Route,
  quotas: Readonly<Record<string, Quota>>,
  api: Api,
): DescribedRoute {
  const { operation, access } = route;
  const success = successResponse(route);
  const body = route.body === undefined ? undefined : requestBody(route.body, operation);
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
  return {
    operation: {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(operation.description !== undefined && { description: operation.description }),
      ...(route.server !== undefined && { servers: [{ url: route.server }] }),
      security: access === 'public' ? [] : [{ [accessTokenScheme]: [...access.scopes] }],
      ...(access !== 'public' && { 'x-rate-limit': rateLimit(access.quota, quotas) }),
      ...(parameters.length > 0 && { parameters }),
      ...(body !== undefined && { requestBody: body.requestBody }),
      responses: { ...success.responses, ...errorResponses(route, api) },
    },
    schemas: { ...success.schemas, ...body?.schemas },
  };
}

function rateLimit(quota: string, quotas: Readonly<Record<string, Quota>>) {
  const found = quotas[quota];
  if (found === undefined) throw new Error(`There is no quota ${quota}.`);
  return { quota, requests: found.requests, window_seconds: found.windowSeconds };
}

function pathParameters({ path, params, operation }: Route): Parameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const checked = params === undefined ? undefined : dtoSchema(params).schema;
  return names.map((name) => {
    const schema = checked?.properties?.[name];
    if (schema !== undefined) return { ...asParameter(name, schema), in: 'path', required: true };
    const said = operation.path?.[name];
    if (said === undefined) throw new Error(`${operation.id} has no description of {${name}}.`);
    return {
      name,
      in: 'path',
      required: true,
      description: said.description,
      schema: { type: 'string' },
      example: said.example,
    };
  });
}

function queryParameters({ query }: Route): Parameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = dtoSchema(query).schema;
  return Object.entries(properties).map(([name, schema]) => ({
    ...asParameter(name, schema),
    in: 'query',
    ...(required.includes(name) && { required: true }),
  }));
}

function asParameter(name: string, { description = '', examples, ...schema }: Schema): Omit<Parameter, 'in'> {
  return { name, description, schema, ...(examples?.[0] !== undefined && { example: examples[0] }) };
}

function headerParameters({ headers, operation }: Route): Parameter[] {
  return operation.answer.headers?.includes('ETag') === true ? [...headers, ifNoneMatch] : [...headers];
}

function requestBody(dto: Class, { id, body }: OperationDoc) {
  if (body === undefined) throw new Error(`${id} has a body without an example.`);
  return {
    requestBody: {
      required: (dtoSchema(dto).schema.required ?? []).length > 0,
      content: { 'application/json': { schema: componentRef(dtoName(dto)), examples: { ...body } } },
    },
    schemas: dtoComponents(dto),
  };
}

/** Schemas of a DTO and its nested DTOs. */
function dtoComponents(dto: Class): Record<string, Schema> {
  const { schema, holds } = dtoSchema(dto);
  return holds.reduce((sum, held) => ({ ...sum, ...dtoComponents(held) }), { [dtoName(dto)]: schema });
}

function successResponse(route: Route): { responses: Record<string, Response>; schemas: Schemas } {
  const { operation, status, contentType = 'application/json' } = route;
  const { description, shape, examples } = operation.answer;
  const headers = successHeaders(route);
  const unchanged = operation.answer.headers?.includes('ETag') === true;
  const same = unchanged && {
    304: {
      description: 'Not modified: the representation still has the `ETag` in `If-None-Match`.',
      headers,
    },
  };
  if (shape instanceof z.ZodVoid)
    return { responses: { [status]: { description, headers }, ...same }, schemas: {} };
  const { schema, schemas } = shapeSchema(shape);
  const ofShape = { ...schemas[referredName(schema) ?? ''], ...schema }.examples?.[0];
  const shown = contentType === 'application/json' && {
    examples: shownExamples(operation.id, examples, ofShape),
  };
  return {
    responses: {
      [status]: { description, headers, content: { [contentType]: { schema, ...shown } } },
      ...same,
    },
    schemas,
  };
}

/** The operation's own examples, or that of its shape. */
function shownExamples(
  id: string,
  own: OperationDoc['answer']['examples'],
  ofShape: unknown,
): Record<string, Example> {
  if (own !== undefined) return { ...own };
  if (ofShape === undefined) throw new Error(`${id} has a response without an example.`);
  return { example: { value: ofShape } };
}

function successHeaders({ access, operation, extraHeaders = [] }: Route): Record<string, Header> {
  const { location } = operation.answer;
  const { RateLimit, 'RateLimit-Policy': policy } = standardHeaders;
  return {
    'X-Request-Id': standardHeaders['X-Request-Id'],
    ...Object.fromEntries((operation.answer.headers ?? []).map((name) => [name, responseHeaders[name]])),
    ...(location !== undefined && { Location: { ...responseHeaders.Location, example: location } }),
    ...Object.fromEntries(extraHeaders.map((name) => [name, standardHeaders[name]])),
    ...(access !== 'public' && { 'RateLimit-Policy': optional(policy), RateLimit: optional(RateLimit) }),
  };
}
