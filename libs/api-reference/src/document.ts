import { z } from 'zod';
import { schemaShape } from './schema.js';

// The subset of OpenAPI 3.1 in our documents. Strict: the reference page would not show other members.

const exampleShape = z.strictObject({ summary: z.string().optional(), value: z.unknown() });
const mediaShape = z.strictObject({
  schema: schemaShape,
  examples: z.record(z.string(), exampleShape).optional(),
});
const contentShape = z.record(z.string(), mediaShape);

const headerShape = z.strictObject({
  description: z.string(),
  required: z.boolean().optional(),
  schema: schemaShape,
  example: z.unknown().optional(),
});
const parameterShape = headerShape.extend({ name: z.string(), in: z.enum(['path', 'query', 'header']) });
const referenceShape = z.strictObject({ $ref: z.string() });
const responseShape = z.strictObject({
  description: z.string(),
  headers: z.record(z.string(), z.union([referenceShape, headerShape])).optional(),
  content: contentShape.optional(),
});

/** Rate limit of an operation. Operations that name the same quota share it. */
const rateLimitShape = z.strictObject({
  quota: z.string(),
  requests: z.number(),
  window_seconds: z.number(),
});

const serverShape = z.strictObject({ url: z.string() });

const operationShape = z.strictObject({
  operationId: z.string(),
  tags: z.array(z.string()).optional(),
  summary: z.string(),
  description: z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  'x-rate-limit': rateLimitShape.optional(),
  servers: z.array(serverShape).optional(),
  parameters: z.array(parameterShape).optional(),
  requestBody: z.strictObject({ required: z.boolean(), content: contentShape }).optional(),
  responses: z.record(z.string(), z.union([referenceShape, responseShape])),
});

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];
const pathItemShape = z.partialRecord(z.enum(methods), operationShape);

const oauthFlowShape = z.strictObject({
  authorizationUrl: z.string(),
  tokenUrl: z.string(),
  refreshUrl: z.string(),
  scopes: z.record(z.string(), z.string()),
});
const securitySchemeShape = z.strictObject({
  type: z.literal('oauth2'),
  description: z.string(),
  flows: z.strictObject({ authorizationCode: oauthFlowShape }),
});

const tagShape = z.strictObject({ name: z.string(), description: z.string() });

export const documentShape = z.strictObject({
  openapi: z.literal('3.1.1'),
  info: z.strictObject({
    title: z.string(),
    version: z.string(),
    summary: z.string(),
    description: z.string(),
  }),
  servers: z.array(serverShape),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  tags: z.array(tagShape),
  paths: z.record(z.string(), pathItemShape),
  webhooks: z.record(z.string(), pathItemShape).optional(),
  components: z.strictObject({
    schemas: z.record(z.string(), schemaShape),
    headers: z.record(z.string(), headerShape),
    responses: z.record(z.string(), responseShape),
    securitySchemes: z.record(z.string(), securitySchemeShape),
  }),
});

export type OpenApiDocument = z.infer<typeof documentShape>;
export type DocumentedOperation = z.infer<typeof operationShape>;
export type PathItem = z.infer<typeof pathItemShape>;
export type Parameter = z.infer<typeof parameterShape>;
export type Response = z.infer<typeof responseShape>;
export type Header = z.infer<typeof headerShape>;
export type Reference = z.infer<typeof referenceShape>;
export type Example = z.infer<typeof exampleShape>;
export type RateLimitPolicy = z.infer<typeof rateLimitShape>;
export type Tag = z.infer<typeof tagShape>;

/** An operation. Its path is below the API's prefix; if the operation has `servers`, below their URL. */
export interface OperationAtPath {
  readonly method: Method;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** Returns the operations of an API, without its webhooks. */
export function operationsOf({ paths }: OpenApiDocument): OperationAtPath[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );
}
