/**
 * The committed OpenAPI document of the Store API: generated from this service and webhook-worker, which owns
 * a part of it (ADR 15).
 */
export const referenceDocument = new URL('../../../docs/reference/store.openapi.json', import.meta.url);
