import type { ReceivedDelivery } from '@fulfilment/testing';
import {
  DocumentedResponses,
  type ActualResponse,
  readDocument,
  SchemaValidator,
} from '@fulfilment/testing/reference';

const store = readDocument('store');
const judge = new SchemaValidator(store);
const apis = [
  new DocumentedResponses(store, '/store'),
  new DocumentedResponses(readDocument('creator'), '/creator'),
];

/** Every answer of the two APIs, whoever asked, is held against their committed references. */
export const documented = {
  check: (answer: ActualResponse): void => {
    for (const api of apis) api.check(answer);
  },
  /** What was wrong since this was asked last. */
  takeFaults: (): string[] => apis.flatMap(({ faults }) => faults.splice(0)),
};

/** What of a delivery is not as the reference tells its event. */
export function deliveryFaults({ body }: ReceivedDelivery): string[] {
  const media = store.webhooks?.[body.event]?.post?.requestBody?.content['application/json'];
  if (media === undefined) return [`${body.event} is not documented`];
  return judge.faults(media.schema, body).map((fault) => `${body.event}: ${fault}`);
}
