import { startListener } from './listener.js';
import { type Merchant, newMerchant, newProduct, type Product } from '../suite/merchant.js';
import { placeOrder } from '../suite/orders.js';

const webhooksPath = '/store/v1/webhooks';

describe('tools listen', () => {
  let merchant: Merchant;
  let product: Product;
  beforeAll(async () => {
    merchant = await newMerchant();
    product = await newProduct(merchant);
  });

  it('prints verified deliveries for a creator, and unsubscribes on Ctrl-C', async () => {
    const { email, password } = merchant.owner;
    const running = await startListener([
      '--email',
      email,
      '--password',
      password,
      '--events',
      'order.created',
    ]);
    const order = await placeOrder(merchant.store, [{ sku: product.sku, quantity: 1 }]);
    const [first] = await running.untilPrinted(1);
    expect(first).toMatchObject({
      event: 'order.created',
      verified: true,
      test: false,
      attempt: 1,
      answered: 204,
      data: { order_id: order },
    });
    await merchant.dashboard.get(`${webhooksPath}/${running.subscriptionId}`).expect(200);
    expect(await running.stop()).toContain(`${running.subscriptionId} is deleted.`);
    await merchant.dashboard.get(`${webhooksPath}/${running.subscriptionId}`).expect(404);
  });

  it('simulates a failing receiver, and prints the retried delivery', async () => {
    const running = await startListener(['--token', merchant.store.token, '--fail', '1', '--status', '503']);
    await placeOrder(merchant.store, [{ sku: product.sku, quantity: 1 }]);
    const [rejected] = await running.untilPrinted(1);
    expect(rejected).toMatchObject({ attempt: 1, answered: 503 });
    const printed = await running.untilPrinted(3); // order.created, order.processing, and one retry
    expect(printed).toContainEqual({ ...rejected, attempt: 2, answered: 204 });
    expect(await running.stop()).toContain(`${running.subscriptionId} is deleted.`);
    await merchant.store.get(`${webhooksPath}/${running.subscriptionId}`).expect(404);
  });
});
