import { publicId, uuidv7 } from '@fulfilment/contracts';
import { startStoreApi, type StoreApiUnderTest } from '../test/store-api.fixture.js';
import { warehouseCommands } from './warehouse-commands.js';

type Given = Readonly<Record<string, string>>;
const unknownOrder = publicId('ord', uuidv7());
const SKU = publicId('prod', uuidv7());
const parcel = {
  ORDER: unknownOrder,
  carrier: 'UPS',
  'tracking-number': '1Z',
  'tracking-url': 'https://track.example/1Z',
};

const notPieces = /must be a whole number from 0 to 999999999/;
const notChange = /must be a whole number from -999999999 to 999999999, and not 0/;

describe('the commands of a warehouse', () => {
  it.each<[keyof typeof warehouseCommands, Given, RegExp]>([
    ['order ship', { ...parcel, 'tracking-url': 'x' }, /must be an http or https address/],
    ['order ship', { ...parcel, carrier: 'x'.repeat(256) }, /must be at most 255 characters long/],
    ['order cancel', { ORDER: unknownOrder, reason: 'x'.repeat(501) }, /must be at most 500 characters long/],
    ['stock set', { SKU, N: '-1' }, notPieces],
    ['stock set', { SKU, N: '-12.5' }, notPieces],
    ['stock set', { SKU, N: '1.5' }, notPieces],
    ['stock set', { SKU, N: 'many' }, notPieces],
    ['stock set', { SKU, N: '1000000000' }, notPieces],
    ['stock adjust', { SKU, DELTA: '0' }, notChange],
    ['stock adjust', { SKU, DELTA: '-1.5' }, notChange],
    ['stock adjust', { SKU, DELTA: '+' }, notChange],
    ['stock adjust', { SKU, DELTA: '1000000000' }, notChange],
    ['stock adjust', { SKU }, /is missing/],
    ['order ship', { ...parcel, ORDER: 'nonsense' }, /must be the id of an order/],
    ['order deliver', { ORDER: SKU }, /must be the id of an order/],
    ['stock set', { SKU: unknownOrder, N: '1' }, /must be the id of a product/],
    ['release approve', { RELEASE: 'nonsense' }, /must be the id of a release/],
  ])('reject %s %j before anything is published', (name, given, reason) => {
    expect(() => warehouseCommands[name].prepare(given)).toThrow(reason);
  });

  describe('with a running service', () => {
    let store: StoreApiUnderTest;
    let sku = '';
    beforeAll(async () => {
      store = await startStoreApi();
      const creator = await store.creator();
      ({ sku } = await store.release(creator.id, [{ quantity: 10 }]));
    });
    afterAll(() => store.stop());

    const run = (name: keyof typeof warehouseCommands, given: Given, namespace = store.broker.namespace) =>
      warehouseCommands[name].prepare(given)({
        database: store.database,
        settings: { RABBITMQ_URL: store.broker.url, RABBITMQ_NAMESPACE: namespace },
      });

    it('return when the service has applied the message', async () => {
      expect(await run('stock adjust', { SKU: sku, DELTA: '-3' })).toEqual({
        message_id: expect.any(String),
        type: 'fulfilment.stock_adjusted',
        outcome: 'applied',
      });
    });

    it('fail with the reason of the service for a rejected message', async () => {
      await expect(run('order deliver', { ORDER: unknownOrder })).rejects.toThrow(
        `Rejected: order ${unknownOrder} does not exist.`,
      );
    });

    it('fail when the exchange of the messages does not exist', async () => {
      await expect(run('stock set', { SKU: sku, N: '1' }, 'no_such_namespace')).rejects.toThrow(
        'RabbitMQ did not confirm the message.',
      );
    });
  });
});
