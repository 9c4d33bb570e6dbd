export { apiDocument } from './api-document.js';
export { apiPart, apiPartShape, type ApiPart } from './api-part.js';
export { accessTokenScheme, type Quota } from './describe-route.js';
export { type Addresses, localAddresses } from './local-addresses.js';
export {
  documentShape,
  type DocumentedOperation,
  type Example,
  type Header,
  type Method,
  methods,
  type OpenApiDocument,
  type Parameter,
  type PathItem,
  type Response,
} from './document.js';
export { dtoSchema } from './dto-schema.js';
export { errorShape } from './errors.js';
export { type Class, Description, Field, type FieldRule, Objects } from './field.js';
export { type ErrorDoc, Operation, operationOf, type OperationDoc } from './operation.js';
export type { Api, Route } from './route.js';
export { headerOf, responseOf } from './share.js';
export { componentRef, mapSchema, referredName, type Schema, type Schemas, schemaShape } from './schema.js';
export { shapeSchema } from './shape-schema.js';
