import { type Message, messages, publicId } from '@fulfilment/contracts';
import { CreatorAndOrderConsumer } from '../../consumers/creator-and-order.consumer.js';
import { creatorApi, type CreatorApi, ownerClaims } from '../../test/creator-api.fixture.js';
import { aCreator } from '../../creators/creator-snapshot.fixture.js';
import { anOrder, orderMessage, transitioned } from '../order-snapshot.fixture.js';

const owner = ownerClaims('org_harbour');
const at = (second: number) => `2026-03-10T12:00:0${second}.000Z`;

describe('the timeline of an order', () => {
  let api: CreatorApi;
  const creator = aCreator('org_harbour');
  const consumer = new CreatorAndOrderConsumer({ scheduleCreators: () => undefined });
  beforeAll(async () => {
    api = await creatorApi();
    await api.record({ creators: [creator] });
  });
  afterAll(() => api.stop());

  const handle = (...batch: Message[]) => api.database.transaction((tx) => consumer.handle(tx, batch));
  const timeline = async (id: string) => (await api.get(`/api/v1/orders/${id}/timeline`, owner)).body.data;

  const tracking = (number: string, url = '') => ({
    carrier: 'Post',
    tracking_number: number,
    tracking_url: url,
  });
  /** An order and its messages: placed, declined, charged, shipped, tracking corrected, delivered. */
  function deliveredOrder() {
    const placed = anOrder(creator.id);
    const declined = transitioned(placed, 'payment_failed', at(1));
    const charged = transitioned(declined, 'processing', at(2));
    const shipped = transitioned(charged, 'shipped', at(3));
    const corrected = {
      ...shipped,
      version: shipped.version + 1,
      tracking: { ...tracking('TEST2'), updated_at: at(4) },
    };
    const delivered = transitioned(corrected, 'delivered', at(5));
    const correction = messages.orderTrackingUpdated.make(
      { order: corrected },
      { occurredAt: new Date(at(4)) },
    );
    const sentMessages = [placed, declined, charged, shipped].map(orderMessage);
    return { id: placed.id, sentMessages: [...sentMessages, correction, orderMessage(delivered)] };
  }
  /** The reason and the tracking are those of `transitioned`. */
  const expected = [
    { at: '2026-03-10T12:00:00.000Z', event: 'placed', reason: null, tracking: null },
    { at: at(1), event: 'charge_failed', reason: 'declined', tracking: null },
    { at: at(2), event: 'paid', reason: null, tracking: null },
    { at: at(3), event: 'shipped', reason: null, tracking: tracking('TEST1', 'https://post.example/TEST1') },
    { at: at(4), event: 'tracking_updated', reason: null, tracking: tracking('TEST2') },
    { at: at(5), event: 'delivered', reason: null, tracking: null },
  ];

  it('has each event once and in order, even if messages arrive twice and in reverse order', async () => {
    const { id, sentMessages } = deliveredOrder();
    for (const message of sentMessages) await handle(message);
    expect(await timeline(id)).toEqual(expected);
    const other = deliveredOrder();
    await handle(...other.sentMessages.toReversed());
    for (const message of other.sentMessages) await handle(message);
    expect(await timeline(other.id)).toEqual(expected);
  });

  it('has the cancellation with its reason, and the refund', async () => {
    const placed = anOrder(creator.id);
    const charged = transitioned(placed, 'processing', at(1));
    const cancelled = transitioned(charged, 'cancelled', at(2));
    await handle(...[placed, charged, cancelled].map(orderMessage));
    expect((await timeline(placed.id)).slice(2)).toEqual([
      { at: at(2), event: 'cancelled', reason: 'out of vinyl', tracking: null },
      { at: at(2), event: 'refunded', reason: null, tracking: null },
    ]);
  });

  it('has the URL of the webhook deliveries about the order', async () => {
    const placed = anOrder(creator.id);
    await handle(orderMessage(placed));
    const { body } = await api.get(`/api/v1/orders/${placed.id}/timeline`, owner);
    expect(body.webhook_deliveries_url).toMatch(
      new RegExp(`^https://.*/store/v1/webhook-deliveries\\?order_id=${publicId('ord', placed.id)}$`),
    );
  });

  it('has the events whose times are in the order row, if the order has no recorded events', async () => {
    const charged = transitioned(anOrder(creator.id), 'processing', at(1));
    await api.record({ orders: [charged] }); // as before timelines were recorded
    expect((await timeline(charged.id)).map(({ event }: { event: string }) => event)).toEqual([
      'placed',
      'paid',
    ]);
  });
});
