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
  /** Returns the faults since the last call. */
  takeFaults: (): string[] => apis.flatMap(({ faults }) => faults.splice(0)),
};

/** Returns the differences between a delivery and the documentation of its event. */
export function deliveryFaults({ body }: ReceivedDelivery): string[] {
  const media = store.webhooks?.[body.event]?.post?.requestBody?.content['application/json'];
  if (media === undefined) return [`${body.event} is not documented`];
  return validator.faults(media.schema, body).map((fault) => `${body.event}: ${fault}`);
}
