export { createApiDocument } from './api-document.js';
export {
  documentShape,
  type DocumentedOperation,
  type Example,
  type Method,
  methods,
  type OpenApiDocument,
  operationsOf,
  type Parameter,
  type OperationAtPath,
  type Response,
} from './document.js';
export { dtoSchema } from './dto-schema.js';
export { type Class, Description, Field, NestedDto } from './field.js';
export { type Addresses, localAddresses, responseHeaders, standardHeaders } from './headers.js';
export { type ErrorDoc, Operation, operationOf, type OperationDoc, textBody } from './operation.js';
export type { Api, Route, ServiceReference } from './route.js';
export { referredName, type Schema, schemaShape, type Schemas } from './schema.js';
export { errorCodeOf } from './errors.js';
export { resolveHeader, resolveResponse } from './components.js';
export { shapeSchema } from './shape-schema.js';
