import { eventually, type OtlpCollector, otlpCollector, webhookReceiver } from '@fulfilment/testing';
import { randomBytes } from 'node:crypto';
import { newMerchant, newProduct } from '../suite/merchant.js';
import { orderBody, quote } from '../suite/orders.js';

/** Port to which the services of the suite send their spans. */
const collectorPort = Number(process.env.SUITE_COLLECTOR_PORT);

/** Spans that the trace of an order has. The last one is of the transaction that writes the ledger. */
const spanNames = [
  'store-api: POST /store/v1/orders',
  'store-api: orders.insert',
  'store-api: charge payment',
  'store-api: send order.processing',
  'webhook-worker: process order.processing',
  'webhook-worker: deliver order.processing',
  'creator-api: process order.processing',
  'creator-api: transaction inbox.claim',
];

describe('the trace of an order', () => {
  let collector: OtlpCollector;
  beforeAll(async () => {
    collector = await otlpCollector({ port: collectorPort });
  });
  afterAll(() => collector.stop());

  it("leads from the client's request to the receiver's response and to the ledger, without a gap", async () => {
    const merchant = await newMerchant();
    const { sku } = await newProduct(merchant);
    const receiver = await webhookReceiver();
    try {
      await merchant.store
        .post('/store/v1/webhooks', {
          url: receiver.url,
          secret: 'a secret',
          events: ['order.*'],
        })
        .expect(201);
      const items = [{ sku, quantity: 1 }];
      const { id: rateId } = await quote(merchant.store, items);
      const [traceId, clientSpanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
      await merchant.store
        .post('/store/v1/orders', orderBody(items, rateId))
        .set('traceparent', `00-${traceId}-${clientSpanId}-01`)
        .expect(201);

      const spans = await eventually(
        () => {
          const found = collector.spans.filter((span) => span.traceId === traceId);
          const names = found.map(({ service, name }) => `${service}: ${name}`);
          const ids = new Set([clientSpanId, ...found.map(({ spanId }) => spanId)]);
          const isComplete = found.every(({ parentSpanId }) => ids.has(parentSpanId));
          return isComplete && spanNames.every((name) => names.includes(name)) ? found : undefined;
        },
        {
          describe: () =>
            `spans: ${collector.spans.map(({ service, name }) => `${service}: ${name}`).join(', ')}`,
        },
      );
      const delivered = spans.filter(({ name }) => name === 'deliver order.processing');
      const statuses = delivered.map(({ attributes }) => attributes['http.response.status_code']);
      expect(new Set(statuses)).toEqual(new Set([204]));
    } finally {
      await receiver.stop();
    }
  });
});
