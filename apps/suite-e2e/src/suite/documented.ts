import type { ReceivedDelivery } from '@fulfilment/testing';
import {
  DocumentedResponses,
  type ActualResponse,
  readDocument,
  SchemaValidator,
} from '@fulfilment/testing/reference';

const store = readDocument('store');
const validator = new SchemaValidator(store);
const apis = [
  new DocumentedResponses(store, '/store'),
  new DocumentedResponses(readDocument('creator'), '/creator'),
];

/** Checks responses of the two APIs against their committed OpenAPI documents. */
export const documented = {
  check: (response: ActualResponse): void => {
    for (const api of apis) api.check(response);
  },
  /** Returns the violations since the last call. */
  takeViolations: (): string[] => apis.flatMap(({ violations }) => violations.splice(0)),
};

/** Returns how a delivery differs from the documentation of its event. */
export function deliveryViolations({ body }: ReceivedDelivery): string[] {
  const media = store.webhooks?.[body.event]?.post?.requestBody?.content['application/json'];
  if (media === undefined) return [`${body.event} is not documented`];
  return validator.violations(media.schema, body).map((violation) => `${body.event}: ${violation}`);
}
