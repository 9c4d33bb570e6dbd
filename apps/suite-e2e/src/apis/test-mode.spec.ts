import { eventually, webhookReceiver } from '@fulfilment/testing';
import { z } from 'zod';
import { bodyOf } from '../suite/api-client.js';
import { newMerchant, storeReleaseId } from '../suite/merchant.js';
import { placeOrder } from '../suite/orders.js';

const release = z.object({ products: z.tuple([z.object({ id: z.string(), status: z.string() })]) });

describe('a test creator', () => {
  it('sells its releases without approval, and both APIs and webhooks report its orders', async () => {
    const merchant = await newMerchant('pm_ok', ['--test', 'yes']);
    const receiver = await webhookReceiver();
    try {
      const subscription = { url: receiver.url, secret: 'a secret of a test', events: ['order.shipped'] };
      await merchant.store.post('/store/v1/webhooks', subscription).expect(201);
      const title = 'Tidal Maps (test)';
      await merchant.dashboard.post('/creator/api/v1/releases', { title, release_type_id: 1 }).expect(201);
      const releaseId = await storeReleaseId(merchant, title);
      const [product] = bodyOf(
        await merchant.store.get(`/store/v1/releases/${releaseId}`).expect(200),
        release,
      ).products;
      expect(product.status).toBe('available');

      const id = await placeOrder(merchant.store, [{ sku: product.id, quantity: 1 }]);
      const events = `/store/v1/test/orders/${id}/events`;
      const shipped = await merchant.store.post(events, { event: 'shipped' }).expect(200);
      expect(shipped.body).toMatchObject({ id, status: 'shipped', livemode: false });
      const delivery = await eventually(() => receiver.deliveries[0]);
      expect(delivery.body.data).toMatchObject({ order_id: id, livemode: false });
      const dispatched = await eventually(async () => {
        const orders = `/creator/api/v1/orders?creator=${merchant.creator.uuid}`;
        const { body } = await merchant.dashboard.get(orders).expect(200);
        return body.data[0]?.dispatch_status === 'dispatched' ? body.data : undefined;
      });
      expect(dispatched).toHaveLength(1);
    } finally {
      await receiver.stop();
    }
  });
});
