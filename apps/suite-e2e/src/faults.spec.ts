import { eventually, type WebhookReceiver, webhookReceiver } from '@fulfilment/testing';
import { type Merchant, newMerchant, newProduct } from './suite/merchant.js';
import { stack } from './suite/operator.js';
import { quote, unitPrice } from './suite/orders.js';
import { untilDependencyAnswers, untilReady } from './suite/readiness.js';
import { SteadyShopper } from './suite/steady-shopper.js';
import { signatureHolds } from './suite/signature.js';

const secret = 'faults';
const readyWithinMs = 10_000;
const dependencyBootsWithinMs = 30_000; // Erlang's time, not ours
const reconnectedWithinMs = 5_000;
const settledWithinMs = 45_000;
const services = ['store-api', 'creator-api', 'auth-server', 'webhook-worker'];
const dependencies = ['rabbitmq', 'redis', 'postgres'];
const promised = ['order.created', 'order.processing'];

/** Everything is killed once while orders are placed; afterwards the books must balance. */
describe('while orders are placed', () => {
  let merchant: Merchant;
  let receiver: WebhookReceiver;
  let shopper: SteadyShopper;
  let lines: readonly { sku: string; quantity: number }[];
  beforeAll(async () => {
    await untilReady(readyWithinMs);
    merchant = await newMerchant();
    lines = [{ sku: (await newProduct(merchant)).sku, quantity: 2 }];
    receiver = await webhookReceiver();
    await merchant.store
      .post('/store/v1/webhooks', {
        url: receiver.url,
        secret,
        events: [...promised, 'order.payment_failed'],
      })
      .expect(201);
    const rate = await quote(merchant.store, lines);
    shopper = new SteadyShopper(merchant.store, lines, rate.id, 3);
    await eventually(() => (shopper.orders.size >= 3 ? true : undefined));
  });
  afterAll(async () => {
    await shopper.stop();
    await receiver.stop();
  });

  const ordersGoOn = () => {
    const before = shopper.orders.size;
    return eventually(() => (shopper.orders.size >= before + 3 ? true : undefined), readyWithinMs);
  };

  it.each(services)('kill -9 of %s: ready again within 10 s, and orders go on', async (name) => {
    const killedAt = performance.now();
    await stack('kill', name);
    await untilReady(readyWithinMs - (performance.now() - killedAt));
    await ordersGoOn();
  });

  it.each(dependencies)('kill -9 of %s: ready within 5 s of its return, and orders go on', async (name) => {
    await stack('kill', name);
    await untilDependencyAnswers(name, dependencyBootsWithinMs);
    await untilReady(reconnectedWithinMs);
    await ordersGoOn();
  });

  describe('afterwards', () => {
    beforeAll(() => shopper.stop());

    const ordersInStore = async (): Promise<Map<string, string>> => {
      const found = new Map<string, string>();
      let cursor = '';
      do {
        const { body } = await merchant.store.get(`/store/v1/orders?limit=100${cursor}`).expect(200);
        for (const { id, status } of body.data) found.set(id, status);
        cursor = body.pagination.has_more ? `&cursor=${encodeURIComponent(body.pagination.next_cursor)}` : '';
      } while (cursor !== '');
      return found;
    };

    it('every key became one order, and there is no other', async () => {
      expect(shopper.surprises).toEqual([]);
      const settled = await eventually(async () => {
        const found = await ordersInStore();
        return [...found.values()].includes('pending') ? undefined : found;
      }, settledWithinMs);
      const accepted = [...shopper.orders.values()];
      expect(new Set(accepted).size).toBe(accepted.length);
      expect([...settled.keys()].sort()).toEqual([...accepted].sort());
      expect(new Set(settled.values())).toEqual(new Set(['processing']));
    });

    it('every order was told of, each event under one id and by one delivery, with a good signature', async () => {
      const accepted = [...shopper.orders.values()];
      const wanted = accepted.flatMap((id) => promised.map((event) => `${event} ${id}`)).sort();
      const told = () =>
        [
          ...new Set(receiver.deliveries.map(({ body }) => `${body.event} ${String(body.data.order_id)}`)),
        ].sort();
      await eventually(
        () => (told().length >= wanted.length ? true : undefined),
        settledWithinMs,
        () => `${told().length} of ${wanted.length} events came`,
      );
      expect(told()).toEqual(wanted);
      const ids = new Map<string, Set<string>>();
      for (const { body, headers } of receiver.deliveries) {
        const what = `${body.event} ${String(body.data.order_id)}`;
        const name = `${body.id} ${String(headers['x-service-delivery'])}`;
        ids.set(what, (ids.get(what) ?? new Set()).add(name));
      }
      expect([...ids].filter(([, several]) => several.size !== 1)).toEqual([]);
      expect(new Set([...ids.values()].flatMap((several) => [...several])).size).toBe(wanted.length);
      expect(receiver.deliveries.every((delivery) => signatureHolds(delivery, secret))).toBe(true);
    });

    it('the statistics add up', async () => {
      const period = new Date().toISOString().slice(0, 7);
      const pieces = 2 * shopper.orders.size;
      const path = `/creator/api/v1/creators/${merchant.creator.uuid}/stats/sales?period=${period}`;
      const { totals } = await eventually(async () => {
        const { body } = await merchant.dashboard.get(path).expect(200);
        return body.totals.units >= pieces ? body : undefined;
      }, settledWithinMs);
      expect(totals).toEqual({ units: pieces, revenue: pieces * unitPrice.amount });
      const { body } = await merchant.dashboard
        .get(`/creator/api/v1/orders?creator=${merchant.creator.uuid}&per_page=1`)
        .expect(200);
      expect(body.meta.total).toBe(shopper.orders.size);
    });
  });
});
