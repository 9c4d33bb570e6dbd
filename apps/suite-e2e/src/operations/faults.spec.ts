import { serviceNames } from '@fulfilment/contracts/permissions';
import {
  eventually,
  type ReceivedDelivery,
  type WebhookReceiver,
  webhookReceiver,
} from '@fulfilment/testing';
import { type Merchant, newMerchant, newProduct } from '../suite/merchant.js';
import { stack } from '../suite/operator.js';
import { quote, unitPrice } from '../suite/orders.js';
import { untilReady } from './readiness.js';
import { SteadyShopper } from './steady-shopper.js';
import { isValidSignature } from '../suite/signature.js';

const secret = 'faults';
/** Far longer than a recovery takes on an idle machine; a busy disk delays that of PostgreSQL. */
const readyTimeoutMs = 100_000;
const dependencies = ['rabbitmq', 'redis', 'postgres'];
const piecesPerOrder = 2;
const currentMonth = () => new Date().toISOString().slice(0, 7);
/** Number of orders that are placed at the same time. */
const concurrency = 3;
const expectedEvents = ['order.created', 'order.processing'];

/** Kills each service and store once during orders. Then orders, events and statistics must agree. */
describe('the suite under continuous orders', () => {
  let merchant: Merchant;
  let receiver: WebhookReceiver;
  let shopper: SteadyShopper;
  let lines: readonly { sku: string; quantity: number }[];
  const firstMonth = currentMonth();

  beforeAll(async () => {
    await untilReady(readyTimeoutMs);
    merchant = await newMerchant();
    lines = [{ sku: (await newProduct(merchant)).sku, quantity: piecesPerOrder }];
    receiver = await webhookReceiver();
    await merchant.store
      .post('/store/v1/webhooks', {
        url: receiver.url,
        secret,
        events: [...expectedEvents, 'order.payment_failed'],
      })
      .expect(201);
    const rate = await quote(merchant.store, lines);
    shopper = new SteadyShopper({ store: merchant.store, lines, rateId: rate.id, concurrency });
    await eventually(() => shopper.orders.size >= concurrency);
  });
  afterAll(async () => {
    await shopper.stop();
    await receiver.stop();
  });

  /** Resolves when as many further orders as are placed at the same time are accepted. */
  const untilOrdersContinue = () => {
    const before = shopper.orders.size;
    return eventually(() => shopper.orders.size >= before + concurrency, { timeoutMs: readyTimeoutMs });
  };

  it.each(serviceNames)('is ready after a kill -9 of %s, and continues to accept orders', async (name) => {
    await stack('kill', name);
    await untilReady(readyTimeoutMs);
    await untilOrdersContinue();
  });

  it.each(dependencies)(
    'reconnects to %s after its recovery from a kill -9, and continues to accept orders',
    async (name) => {
      await stack('kill', name);
      // `start` ends after the recovery, which a busy disk delays. A restart may fail, and is then repeated.
      const hasRecovered = () =>
        stack('start', name).then(
          () => true,
          () => false,
        );
      await eventually(hasRecovered, { timeoutMs: readyTimeoutMs });
      await untilReady(readyTimeoutMs);
      await untilOrdersContinue();
    },
  );

  describe('after the kills', () => {
    beforeAll(() => shopper.stop());

    /** Sums the sales of a month and of the current one, since a month may end during the test. */
    const salesSince = async (month: string): Promise<{ units: number; revenue: number }> => {
      const sums = { units: 0, revenue: 0 };
      for (const period of new Set([month, currentMonth()])) {
        const path = `/creator/api/v1/creators/${merchant.creator.uuid}/stats/sales?period=${period}`;
        const { totals } = (await merchant.dashboard.get(path).expect(200)).body;
        sums.units += totals.units;
        sums.revenue += totals.revenue;
      }
      return sums;
    };

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

    it('has exactly one order for every key', async () => {
      expect(shopper.unexpected).toEqual([]);
      const settled = await eventually(
        async () => {
          const found = await ordersInStore();
          return [...found.values()].includes('pending') ? undefined : found;
        },
        { timeoutMs: readyTimeoutMs },
      );
      const accepted = [...shopper.orders.values()];
      expect(new Set(accepted).size).toBe(accepted.length);
      expect([...settled.keys()].sort()).toEqual([...accepted].sort());
      expect(new Set(settled.values())).toEqual(new Set(['processing']));
    });

    it('has delivered each event of every order under one id, with a valid signature', async () => {
      const nameOf = ({ event, data }: ReceivedDelivery['body']) => `${event} ${String(data.order_id)}`;
      const accepted = [...shopper.orders.values()];
      const expected = accepted.flatMap((id) => expectedEvents.map((event) => `${event} ${id}`)).sort();
      const received = () => [...new Set(receiver.deliveries.map(({ body }) => nameOf(body)))].sort();
      await eventually(() => received().length >= expected.length, {
        timeoutMs: readyTimeoutMs,
        describe: () => `${received().length} of ${expected.length} events were received`,
      });
      expect(received()).toEqual(expected);
      /** By event and order: the ids of the event and of its delivery. */
      const idPairs = new Map<string, Set<string>>();
      for (const { body, headers } of receiver.deliveries) {
        const eventOfOrder = nameOf(body);
        const idPair = `${body.id} ${String(headers['x-service-delivery'])}`;
        idPairs.set(eventOfOrder, (idPairs.get(eventOfOrder) ?? new Set()).add(idPair));
      }
      expect([...idPairs].filter(([, pairs]) => pairs.size !== 1)).toEqual([]);
      expect(new Set([...idPairs.values()].flatMap((pairs) => [...pairs])).size).toBe(expected.length);
      expect(receiver.deliveries.every((delivery) => isValidSignature(delivery, secret))).toBe(true);
    });

    it('has statistics that match the orders', async () => {
      const pieces = piecesPerOrder * shopper.orders.size;
      const totals = await eventually(
        async () => {
          const sums = await salesSince(firstMonth);
          return sums.units >= pieces ? sums : undefined;
        },
        { timeoutMs: readyTimeoutMs },
      );
      expect(totals).toEqual({ units: pieces, revenue: pieces * unitPrice.amount });
      const { body } = await merchant.dashboard
        .get(`/creator/api/v1/orders?creator=${merchant.creator.uuid}&per_page=1`)
        .expect(200);
      expect(body.meta.total).toBe(shopper.orders.size);
    });
  });
});
