export { boundMismatches, queryMismatches } from './bound-mismatches.js';
export { exampleViolations, formatViolations, undescribedMembers } from './document-violations.js';
export { DocumentedResponses, type ActualResponse } from './documented-responses.js';
export { mentionsField } from './mentions-field.js';
export { readDocument } from './read-document.js';
export { registeredRoutes } from './registered-routes.js';
export { SchemaValidator } from './schema-validator.js';
export { jsonSchemaViolations } from './json-schema-violations.js';
