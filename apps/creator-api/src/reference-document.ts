/** The committed OpenAPI document of the Creator API, generated from this service (ADR 15). */
export const referenceDocument = new URL('../../../docs/reference/creator.openapi.json', import.meta.url);
