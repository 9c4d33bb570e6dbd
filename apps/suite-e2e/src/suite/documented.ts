import type { ReceivedDelivery } from '@fulfilment/testing';
import { DocumentedAnswers, readDocument, SchemaJudge } from '@fulfilment/testing/reference';

const document = readDocument('store');
const judge = new SchemaJudge(document);

/** Every answer of the Store API, whoever asked, is held against its committed reference. */
export const documented = new DocumentedAnswers(document, '/store');

/** What of a delivery is not as the reference tells its event. */
export function deliveryFaults({ body }: ReceivedDelivery): string[] {
  const media = document.webhooks?.[body.event]?.post?.requestBody?.content['application/json'];
  if (media === undefined) return [`${body.event} is not documented`];
  return judge.faults(media.schema, body).map((fault) => `${body.event}: ${fault}`);
}
