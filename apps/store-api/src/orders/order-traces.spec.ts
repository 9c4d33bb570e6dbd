import { type RecordedSpans, recordSpans } from '@fulfilment/runtime/testing';
import { eventually } from '@fulfilment/testing';
import { type StoreApiUnderTest, startStoreApi } from '../test/store-api.fixture.js';
import { orderHelpers } from './order-helpers.fixture.js';

const traceId = 'a'.repeat(32);

describe('the trace of an order', () => {
  let store: StoreApiUnderTest;
  let recorded: RecordedSpans;
  beforeAll(async () => {
    store = await startStoreApi();
  });
  afterAll(() => store.stop());
  afterEach(() => recorded.stop());

  it('contains its request, statements, charge and messages, but no address, token or key', async () => {
    const helpers = orderHelpers(store);
    const { creator, body } = await helpers.prepareOrder();
    recorded = recordSpans();
    const { body: order } = await helpers
      .place(creator, body, 'key-1')
      // The last 00 is "not sampled": a client does not decide what the service records.
      .set('traceparent', `00-${traceId}-${'b'.repeat(16)}-00`)
      .expect(201);
    await eventually(() => recorded.named('send order.processing').length > 0);
    const [request] = recorded.named('POST /store/v1/orders');
    const requestId = request?.spanContext().spanId;
    const parentIdsOf = (name: string) =>
      recorded.named(name).map(({ parentSpanContext }) => parentSpanContext?.spanId);
    const [charge] = recorded.named('charge payment');
    expect(charge).toMatchObject({
      parentSpanContext: { spanId: requestId },
      attributes: { 'order.id': order.id, 'payment.provider': 'sandbox', 'payment.outcome': 'succeeded' },
    });
    expect(parentIdsOf('sandbox.insert-charge')).toEqual([charge?.spanContext().spanId]);
    for (const name of ['orders.pricing', 'orders.insert', 'create order.created', 'orders.settle-unchanged'])
      expect(parentIdsOf(name)).toEqual([requestId]);
    const created = recorded.named('create order.processing').map((span) => span.spanContext().spanId);
    expect(parentIdsOf('send order.processing')).toEqual(created);
    const { spans } = recorded;
    expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
    const text = JSON.stringify(spans.map(({ name, attributes }) => ({ name, attributes })));
    for (const secret of [creator.token, ...Object.values(body.shipping_address), 'key-1'])
      expect(text).not.toContain(String(secret));
  });
});
