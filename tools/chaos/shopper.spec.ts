import { shippingAddress } from '../demo/order-request.ts';
import { Shopper } from './shopper.ts';

const stack = {
  base_url: 'https://localhost:1',
  auth_url: 'https://localhost:1',
  ca_file: import.meta.filename, // not read as a certificate without a connection
  users: [],
  clients: {
    dashboard: { client_id: '', redirect_uri: '' },
    resource_server: { client_id: '', client_secret: '' },
  },
  services: {},
  dependencies: { postgres: '', redis: '', rabbitmq: '' },
};

it('a closed shopper places no further order, and reports none as rejected', async () => {
  const order = { items: [], shipping_address: shippingAddress, shipping_rate_id: '' };
  const shopper = new Shopper(stack, 'token', order, 'prod_limited');
  await shopper.close();
  await shopper.placeOrders({ minCount: 20, perSecond: 1_000, ended: AbortSignal.abort() });
  expect(shopper.rejected).toEqual([]);
});
